import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlePrograms } from './compileProject.js'
import { compiledFolderVariable, compiledProgram, interpretedProgram, type Program } from './program.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

export interface PreviousVersion {
  readonly commit: string
  readonly program: Program
  /** Whether it starts on a schema with later migrations that run beside it. */
  readonly startsOnLaterSchema: boolean
}

const root = fileURLToPath(new URL('../../', import.meta.url))
// What the service reads.
const parts = ['src', 'migrations', 'web', 'openapi', 'contracts', 'package.json', 'tsconfig.json']

const changesSearched = 100

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

const tryGit = (...args: readonly string[]): string | null => {
  try {
    return git(...args)
  } catch {
    return null
  }
}

/** `PREVIOUS_REF`, the last release, or the newest commit whose migrations are the first of these, unchanged. */
const findCommit = (): string => {
  const given =
    process.env.PREVIOUS_REF ?? tryGit('describe', '--tags', '--match', 'v*', '--abbrev=0', 'HEAD^')
  if (given !== null) return git('rev-parse', '--verify', `${given}^{commit}`)
  const names = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'))
  const digests = git('hash-object', ...names.map((name) => `migrations/${name}`)).split('\n')
  const present = new Map(names.map((name, index) => [name, digests[index]]))
  const precedes = (commit: string): boolean => {
    const files = readMigrations(commit)
    return files.length < present.size && files.every(([name, digest]) => present.get(name) === digest)
  }
  // A migration may have been changed after the commit that added it: what came before each change is tried.
  const changes = git('log', `-${changesSearched}`, '--format=%H %P', '--', 'migrations')
  const candidates = ['HEAD', ...changes.split('\n').flatMap((line) => line.split(' ').slice(1, 2))]
  const found = candidates.find(precedes)
  if (found === undefined) throw new Error('No commit has the first of the migrations')
  return git('rev-parse', '--verify', found)
}

const readMigrations = (commit: string) =>
  git('ls-tree', commit, 'migrations/')
    .split('\n')
    .map((line) => /^\S+ blob (\S+)\tmigrations\/(\S+\.sql)$/.exec(line))
    .flatMap((match) => (match === null ? [] : [[match[2] ?? '', match[1]] as const]))

/** As the run has compiled this version, if it did. */
const prepareProgram = async (folder: string): Promise<Program> => {
  const compiled = process.env[compiledFolderVariable]
  if (compiled === undefined) return interpretedProgram(join(folder, 'src', 'main.ts'))
  await symlink(join(compiled, 'test'), join(folder, 'test'))
  await bundlePrograms(folder, { sources: folder, programs: ['src/main'] })
  return compiledProgram(join(folder, 'src', 'main.js'))
}

/**
 * The sources of the previous version, with the packages of this one. Null with a message on stderr where the history is
 * missing; an error with `REQUIRE_HISTORY=1`.
 */
export const unpackPreviousVersion = async (): Promise<PreviousVersion | null> => {
  const unpacked = await unpack()
  if (unpacked === null) return null
  const { commit, folder } = unpacked
  return {
    commit,
    program: await prepareProgram(folder),
    startsOnLaterSchema: existsSync(join(folder, 'src/stores/postgres/database/schemaHistory.ts')),
  }
}

interface Sources {
  readonly commit: string
  readonly folder: string
}

/** Throws where the history is missing. */
export const unpackPreviousSources = async (): Promise<Sources> => {
  const commit = findCommit()
  const folder = await makeTemporaryFolder('previous-')
  const present = parts.filter((part) => git('ls-tree', '--name-only', commit, part) !== '')
  const input = execFileSync('git', ['archive', commit, ...present], { cwd: root, maxBuffer: 2 ** 30 })
  const { status, stderr } = spawnSync('tar', ['-x', '-C', folder], { input })
  if (status !== 0) throw new Error(`tar: ${stderr.toString()}`)
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { commit, folder }
}

const unpack = async (): Promise<Sources | null> => {
  try {
    return await unpackPreviousSources()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const advice = 'fetch the whole history (git fetch --unshallow), or set PREVIOUS_REF'
    if (process.env.REQUIRE_HISTORY === '1') {
      throw new Error(`REQUIRE_HISTORY=1, but the previous version is not there: ${advice}`, { cause })
    }
    process.stderr.write(`\n*** Suite of the previous version SKIPPED: ${advice} (${reason}) ***\n\n`)
    return null
  }
}
