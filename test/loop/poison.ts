/** The session whose program ends its process. */
export const POISON = 'poison';

/** How the ids of the other sessions begin. */
export const INNOCENT = 'innocent';

/** What a host process of the poison test prints when a program starts. */
export interface Started {
  readonly sid: string;
  readonly turn: number;
  /** Other programs that run in the process. */
  readonly beside: number;
  readonly pid: number;
}

/** The session that a host drives beside the processes of the poison. */
export const WITNESS = 'witness';
