import type { PureDeclarations } from './declaration.ts';

/** Numbers: `tool.math`. */
export const MATH = {
  'tool.math.Add': {
    description: 'Adds two numbers.',
    args: [
      ['num1: float', 'the first number, or a numeric string'],
      ['num2: float', 'the second number, or a numeric string'],
    ],
    returns: 'number',
    example: ['tool.math.Add(5, "3.5")', '8.5'],
  },
  'tool.math.Subtract': {
    description: 'Subtracts the second number from the first.',
    args: [
      ['num1: float', 'the number to subtract from'],
      ['num2: float', 'the number to subtract'],
    ],
    returns: 'number',
    example: ['tool.math.Subtract(10, 4.5)', '5.5'],
  },
  'tool.math.Multiply': {
    description: 'Multiplies two numbers.',
    args: [
      ['num1: float', 'the first number, or a numeric string'],
      ['num2: float', 'the second number, or a numeric string'],
    ],
    returns: 'number',
    example: ['tool.math.Multiply(6, 7)', '42'],
  },
  'tool.math.Divide': {
    description: 'Divides the first number by the second. Fails with code 14 if the divisor is 0.',
    args: [
      ['num1: float', 'the dividend'],
      ['num2: float', 'the divisor, not 0'],
    ],
    returns: 'number',
    example: ['tool.math.Divide(10, 4)', '2.5'],
  },
  'tool.math.Modulo': {
    description:
      'Returns the remainder of a division of whole numbers, with the sign of the dividend. Fails with code 14 if the divisor is 0.',
    args: [
      ['num1: int', 'the dividend, a whole number'],
      ['num2: int', 'the divisor, a whole number, not 0'],
    ],
    returns: 'int',
    example: ['tool.math.Modulo(-7, 3)', '-1'],
  },
  'tool.math.Abs': {
    description: 'Returns the absolute value of a number.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: ['tool.math.Abs(-2.5)', '2.5'],
  },
  'tool.math.Sign': {
    description: 'Returns the sign of a number: -1, 0 or 1.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: ['tool.math.Sign(-2.5)', '-1'],
  },
  'tool.math.Floor': {
    description: 'Rounds a number down to a whole number.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: ['tool.math.Floor(-1.5)', '-2'],
  },
  'tool.math.Ceil': {
    description: 'Rounds a number up to a whole number.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: ['tool.math.Ceil(1.2)', '2'],
  },
  'tool.math.Trunc': {
    description: 'Removes the fraction of a number.',
    args: [['num: float', 'the number']],
    returns: 'number',
    example: ['tool.math.Trunc(-1.7)', '-1'],
  },
  'tool.math.Round': {
    description: 'Rounds a number to `digits` decimal places, halves away from zero, by its printed digits.',
    args: [
      ['num: float', 'the number'],
      ['digits: int = 0', 'decimal places, -15 to 15; -1 rounds to tens, -2 to hundreds, and so on'],
    ],
    returns: 'number',
    example: ['tool.math.Round(1.005, 2)', '1.01'],
  },
  'tool.math.Sqrt': {
    description: 'Returns the square root of a number. Fails with code 41 if the number is negative.',
    args: [['num: float', 'the number, 0 or more']],
    returns: 'number',
    example: ['tool.math.Sqrt(2.25)', '1.5'],
  },
  'tool.math.Power': {
    description: 'Raises a number to a power.',
    args: [
      ['base: float', 'the base'],
      ['exponent: float', 'the exponent'],
    ],
    returns: 'number',
    example: ['tool.math.Power(2, 10)', '1024'],
  },
  'tool.math.Clamp': {
    description: 'Limits a number to a range: returns the nearer bound if the number is outside.',
    args: [
      ['num: float', 'the number'],
      ['least: float', 'the lower bound'],
      ['most: float', 'the upper bound, not below the lower bound'],
    ],
    returns: 'number',
    example: ['tool.math.Clamp(15, 0, 10)', '10'],
  },
  'tool.math.Min': {
    description: 'Returns the smallest number of a list. Fails with code 41 if the list is empty.',
    args: [['numbers: slice_float', 'the numbers, at least one']],
    returns: 'number',
    example: ['tool.math.Min([3, "1.5", 2])', '1.5'],
  },
  'tool.math.Max': {
    description: 'Returns the largest number of a list. Fails with code 41 if the list is empty.',
    args: [['numbers: slice_float', 'the numbers, at least one']],
    returns: 'number',
    example: ['tool.math.Max([3, 1, 2])', '3'],
  },
  'tool.math.Sum': {
    description: 'Adds up the numbers of a list. An empty list gives 0.',
    args: [['numbers: slice_float', 'the numbers']],
    returns: 'number',
    example: ['tool.math.Sum([1, 2, 3.5])', '6.5'],
  },
  'tool.math.Mean': {
    description: 'Returns the arithmetic mean of a list of numbers. Fails with code 41 if the list is empty.',
    args: [['numbers: slice_float', 'the numbers, at least one']],
    returns: 'number',
    example: ['tool.math.Mean([1, 2, 6])', '3'],
  },
  'tool.math.Median': {
    description:
      'Returns the median of a list of numbers: the middle one, or the mean of the two middle ones. Fails with code 41 if the list is empty.',
    args: [['numbers: slice_float', 'the numbers, at least one, in any order']],
    returns: 'number',
    example: ['tool.math.Median([9, 1, 4, 2])', '3'],
  },
} as const satisfies PureDeclarations<'math'>;
