import { formatLogLine } from './readableLines.js'

export interface ScreenOutput {
  write(text: string): unknown
}

/** A destination of the log that writes for people. */
export interface Screen {
  /** One JSON line of the log. */
  write(line: string): void
  /** Keeps lines back until `show`. */
  hold(): void
  /** Writes text of our own, then what was held back. `covers`: except events at level info, which the text describes. */
  show(text: string, options?: { readonly covers: boolean }): void
}

export const createScreen = (output: ScreenOutput, hasColours: boolean): Screen => {
  let held: string[] | null = null
  return {
    write: (line) => {
      if (held === null) output.write(`${formatLogLine(line, hasColours)}\n`)
      else held.push(line)
    },
    hold: () => {
      held ??= []
    },
    show: (text, { covers } = { covers: false }) => {
      output.write(text)
      const lines = (held ?? []).filter((line) => !covers || !line.includes('"level":"info"'))
      for (const line of lines) output.write(`${formatLogLine(line, hasColours)}\n`)
      held = null
    },
  }
}
