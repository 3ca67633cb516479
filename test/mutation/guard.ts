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

/** The guards of one file that the same tests must notice: by name, what is there and what replaces it. */
export const guardsIn = (
  file: string,
  tests: readonly string[],
  changes: Readonly<Record<string, readonly [from: string, to: string]>>,
): readonly Guard[] => Object.entries(changes).map(([name, [from, to]]) => ({ name, file, from, to, tests }))

/** Throws unless the guard occurs exactly once. */
export const removeGuard = ({ name, file, from, to }: Guard, source: string): string => {
  const parts = source.split(from)
  if (parts.length !== 2) throw new Error(`${name}: ${file} has it ${parts.length - 1} times`)
  return parts.join(to)
}
