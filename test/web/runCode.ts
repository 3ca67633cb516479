import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { stripTypes } from '../support/compileProject.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

interface Runner {
  readonly name: string
  readonly command: readonly string[]
  /** Of the code into what the command takes. */
  readonly compile?: (code: string) => Promise<string>
}

const runners: Readonly<Record<string, Runner>> = {
  curl: { name: 'pay.sh', command: ['sh'] },
  TypeScript: { name: 'pay.mjs', command: [process.execPath], compile: stripTypes },
  Python: { name: 'pay.py', command: ['python3'] },
  Go: { name: 'pay.go', command: ['go', 'run'] },
}

// Without it, each run of a Go program compiles the standard library.
const goCache = fileURLToPath(new URL('../../.cache/go', import.meta.url))

/** Without it, the code of the language is read and not run; an error with `REQUIRE_LANGUAGES=1`. */
export const isInstalled = (program: string): boolean => {
  const folders = (process.env.PATH ?? '').split(delimiter)
  if (folders.some((folder) => existsSync(join(folder, program)))) return true
  if (process.env.REQUIRE_LANGUAGES === '1')
    throw new Error(`REQUIRE_LANGUAGES=1, but there is no ${program}`)
  process.stderr.write(`\n*** no ${program} here: code for it is not run ***\n\n`)
  return false
}

/** What the program prints, in a folder of its own. */
export const runCode = async (language: string, code: string, apiKey = ''): Promise<string> => {
  const { name, command, compile } = runners[language] ?? { name: '', command: [] }
  const folder = await makeTemporaryFolder('code-', { onDisk: true })
  try {
    await writeFile(join(folder, name), compile === undefined ? code : await compile(code))
    const [program = '', ...args] = command
    const { stdout } = await promisify(execFile)(program, [...args, name], {
      cwd: folder,
      env: { ...process.env, QUITTANCE_API_KEY: apiKey, HOME: folder, GOCACHE: goCache },
    })
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}
