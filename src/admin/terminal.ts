import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type { Terminal } from './runAdmin.js'

/** The streams of a process; questions go to `complaints`, so that an answer can be piped on. */
export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable
  readonly complaints: Writable
}

/** A terminal made of a process's streams. */
export const createTerminal = ({ input, output, complaints }: Streams): Terminal => ({
  print: (line) => void output.write(`${line}\n`),
  ask: async (question) => {
    if (input.isTTY !== true) return null
    const lines = createInterface({ input, output: complaints })
    try {
      return await lines.question(question)
    } finally {
      lines.close()
    }
  },
})
