import type { PureDeclarations } from './declaration.ts';

/** Numbers: `tool.math.…`. */
export const MATH = {
  'tool.math.Add': {
    description: 'The sum of two numbers.',
    args: [
      ['num1: float', 'the first number, or its text'],
      ['num2: float', 'the second number, or its text'],
    ],
    returns: 'number',
    example: 'tool.math.Add(5, "3.5")',
    gives: '8.5',
  },
  'tool.math.Subtract': {
    description: 'The difference of two numbers.',
    args: [
      ['num1: float', 'the number to subtract from'],
      ['num2: float', 'the number to subtract'],
    ],
    returns: 'number',
    example: 'tool.math.Subtract(10, 4.5)',
    gives: '5.5',
  },
  'tool.math.Multiply': {
    description: 'The product of two numbers.',
    args: [
      ['num1: float', 'the first number, or its text'],
      ['num2: float', 'the second number, or its text'],
    ],
    returns: 'number',
    example: 'tool.math.Multiply(6, 7)',
    gives: '42',
  },
  'tool.math.Divide': {
    description: 'The quotient of two numbers; code 14 for a divisor of 0.',
    args: [
      ['num1: float', 'the number to divide'],
      ['num2: float', 'the divisor, not 0'],
    ],
    returns: 'number',
    example: 'tool.math.Divide(10, 4)',
    gives: '2.5',
  },
  'tool.math.Modulo': {
    description: 'The remainder of two whole numbers, with the sign of the first; code 14 for a divisor of 0.',
    args: [
      ['num1: int', 'the whole number to divide'],
      ['num2: int', 'the divisor, a whole number, not 0'],
    ],
    returns: 'int',
    example: 'tool.math.Modulo(-7, 3)',
    gives: '-1',
  },
  'tool.math.Abs': {
    description: 'A number without its sign.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: 'tool.math.Abs(-2.5)',
    gives: '2.5',
  },
  'tool.math.Sign': {
    description: '-1, 0 or 1.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: 'tool.math.Sign(-2.5)',
    gives: '-1',
  },
  'tool.math.Floor': {
    description: 'The next whole number below.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: 'tool.math.Floor(-1.5)',
    gives: '-2',
  },
  'tool.math.Ceil': {
    description: 'The next whole number above.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: 'tool.math.Ceil(1.2)',
    gives: '2',
  },
  'tool.math.Trunc': {
    description: 'A number without its fraction.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: 'tool.math.Trunc(-1.7)',
    gives: '-1',
  },
  'tool.math.Round': {
    description: 'A number rounded to so many decimal digits, halves away from zero, as its digits are printed.',
    args: [
      ['num: float', 'the number'],
      ['digits: int = 0', 'digits behind the point, -15 to 15; below 0 rounds to tens (-1), hundreds (-2) and so on'],
    ],
    returns: 'number',
    example: 'tool.math.Round(1.005, 2)',
    gives: '1.01',
  },
  'tool.math.Sqrt': {
    description: 'The square root; code 41 for a negative number.',
    args: [['num: float', 'the number, 0 or more']],
    returns: 'number',
    example: 'tool.math.Sqrt(2.25)',
    gives: '1.5',
  },
  'tool.math.Power': {
    description: 'The first number to the power of the second.',
    args: [
      ['base: float', 'the number to raise'],
      ['exponent: float', 'the power'],
    ],
    returns: 'number',
    example: 'tool.math.Power(2, 10)',
    gives: '1024',
  },
  'tool.math.Clamp': {
    description: 'A number, or the nearer of two bounds that it exceeds.',
    args: [
      ['num: float', 'the number'],
      ['least: float', 'the lower bound'],
      ['most: float', 'the upper bound, not below the lower one'],
    ],
    returns: 'number',
    example: 'tool.math.Clamp(15, 0, 10)',
    gives: '10',
  },
  'tool.math.Min': {
    description: 'The least of a list of numbers; code 41 for none.',
    args: [['numbers: slice_float', 'the numbers, at least one']],
    returns: 'number',
    example: 'tool.math.Min([3, "1.5", 2])',
    gives: '1.5',
  },
  'tool.math.Max': {
    description: 'The greatest of a list of numbers; code 41 for none.',
    args: [['numbers: slice_float', 'the numbers, at least one']],
    returns: 'number',
    example: 'tool.math.Max([3, 1, 2])',
    gives: '3',
  },
  'tool.math.Sum': {
    description: 'The sum of a list of numbers.',
    args: [['numbers: slice_float', 'the numbers; the sum of none is 0']],
    returns: 'number',
    example: 'tool.math.Sum([1, 2, 3.5])',
    gives: '6.5',
  },
  'tool.math.Mean': {
    description: 'The mean of a list of numbers; code 41 for none.',
    args: [['numbers: slice_float', 'the numbers, at least one']],
    returns: 'number',
    example: 'tool.math.Mean([1, 2, 6])',
    gives: '3',
  },
  'tool.math.Median': {
    description: 'The middle of a list of numbers in order, or the mean of the two middle ones; code 41 for none.',
    args: [['numbers: slice_float', 'the numbers, at least one, in any order']],
    returns: 'number',
    example: 'tool.math.Median([9, 1, 4, 2])',
    gives: '3',
  },
} as const satisfies PureDeclarations<'math'>;
