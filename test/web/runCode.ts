import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const files: Readonly<Record<string, { readonly name: string; readonly command: readonly string[] }>> = {
  curl: { name: 'pay.sh', command: ['sh'] },
  TypeScript: { name: 'pay.mts', command: [process.execPath, '--import', import.meta.resolve('tsx')] },
  Python: { name: 'pay.py', command: ['python3'] },
  Go: { name: 'pay.go', command: ['go', 'run'] },
}

/** Without it, the code of the language is read and not run. */
export const isInstalled = (program: string): boolean => {
  const folders = (process.env.PATH ?? '').split(delimiter)
  if (folders.some((folder) => existsSync(join(folder, program)))) return true
  process.stderr.write(`\n*** no ${program} here: code for it is not run ***\n\n`)
  return false
}

/** What the program prints, in a folder of its own. */
export const runCode = async (language: string, code: string, apiKey = ''): Promise<string> => {
  const { name, command } = files[language] ?? { name: '', command: [] }
  const folder = await makeTemporaryFolder('code-', { onDisk: true })
  try {
    await writeFile(join(folder, name), code)
    const [program = '', ...args] = command
    const { stdout } = await promisify(execFile)(program, [...args, name], {
      cwd: folder,
      env: { ...process.env, QUITTANCE_API_KEY: apiKey, HOME: folder },
    })
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}
