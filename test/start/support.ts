import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { compiledFolderVariable } from '../support/program.js'
import { spawnChild } from '../support/spawnChild.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** What was written to standard output and standard error so far. */
  text(): string
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
}

/** A child process with only these variables. */
export const startProcess = (
  command: readonly string[],
  options: {
    readonly cwd?: string
    readonly environment?: Readonly<Record<string, string>>
    readonly uid?: number
  },
): Started => {
  const { cwd = root, environment = {}, uid } = options
  const settings = {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      npm_config_update_notifier: 'false',
      ...environment,
    },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  }
  // npm passes a SIGTERM on to the program that it runs, but cannot pass on a SIGKILL.
  const deathSignal = command[0] === 'npm' ? 'TERM' : 'KILL'
  const child = spawnChild(command, { ...settings, stdio: ['ignore', 'pipe', 'pipe'] }, deathSignal)
  let [output, errors] = ['', '']
  const waiting = new Set<() => void>()
  const onText = () => {
    for (const check of waiting) check()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    onText()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
    onText()
  })
  const ended = once(child, 'close').then(([code]): Ended => {
    return { code: typeof code === 'number' ? code : null, output, errors }
  })
  const text = () => output + errors
  const waitFor = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(text())
        if (match === null) return
        waiting.delete(check)
        resolve(match)
      }
      waiting.add(check)
      check()
      void ended.then(() => reject(new Error(`Ended without ${pattern}:\n${text()}`)))
    })
  return { child, ended, text, waitFor }
}

/** An installation without sources, as in the image, with the compiled service of this run. */
export const makeInstallation = async (folder: string): Promise<string> => {
  const compiled = process.env[compiledFolderVariable]
  if (compiled === undefined) throw new Error('The sources were not compiled for this run')
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  await symlink(join(compiled, 'src'), join(folder, 'dist'))
  return folder
}

/**
 * A project of one file, with the scripts and the compiler of this one. Without the types of Node.js it compiles in a third
 * of the time.
 */
export const makeSmallProject = async (folder: string): Promise<string> => {
  await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  for (const name of ['tsconfig.build.json', 'package.json']) await cp(join(root, name), join(folder, name))
  const { compilerOptions } = project.parse(JSON.parse(await readFile(join(root, 'tsconfig.json'), 'utf8')))
  const options = { compilerOptions: { ...compilerOptions, lib: ['ES2015'], types: [] } }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await mkdir(join(folder, 'src'))
  await writeFile(
    join(folder, 'src', 'process.d.ts'),
    'declare const process: { exit(code: number): void; stdout: { write(text: string): void } }\n',
  )
  await writeFile(join(folder, 'src', 'main.ts'), "process.stdout.write('first\\n')\n")
  return folder
}

const project = z.object({ compilerOptions: z.record(z.string(), z.unknown()) })
