/** One check that protects money, and how to remove it. */
export interface Guard {
  /** Sentence: what the guard refuses. */
  readonly name: string
  /** Below the project's root. */
  readonly file: string
  /** Occurs once in the file. */
  readonly from: string
  readonly to: string
  /** Test files of which at least one must fail without the guard. */
  readonly tests: readonly string[]
}

/** Throws unless the guard occurs exactly once. */
export const removeGuard = ({ name, file, from, to }: Guard, source: string): string => {
  const parts = source.split(from)
  if (parts.length !== 2) throw new Error(`${name}: ${file} has it ${parts.length - 1} times`)
  return parts.join(to)
}
