import { fileURLToPath } from 'node:url'

/** Arguments for Node to run a file of the project: `node ...flags file`. */
export interface Program {
  readonly flags: readonly string[]
  readonly file: string
}

/** Names the output folder of `compileProject` for this run. */
export const compiledFolderVariable = 'QUITTANCE_COMPILED_FOLDER'

const root = new URL('../../', import.meta.url)

// By default V8 optimizes during a start what few processes live to run again: a sixth of the processor time of a start. Only
// that of Node.js 20 has this option; later ones would refuse to start with it.
const budget = Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=1400000'] : []
const flags = ['--enable-source-maps', ...budget]

/** Of sources as they are. */
export const interpretedProgram = (file: string): Program => ({
  flags: ['--import', import.meta.resolve('tsx')],
  file,
})

export const compiledProgram = (file: string): Program => ({ flags, file })

/** Uses the compiled file if there is one, which halves the startup time; otherwise tsx. */
export const findProgram = (source: URL): Program => {
  const compiled = process.env[compiledFolderVariable]
  if (compiled === undefined) return interpretedProgram(fileURLToPath(source))
  const path = source.href.slice(root.href.length).replace(/\.ts$/, '.js')
  return compiledProgram(fileURLToPath(new URL(path, `file://${compiled}/`)))
}
