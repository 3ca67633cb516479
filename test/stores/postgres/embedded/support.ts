import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { z } from 'zod'
import type { Machine } from '../../../../src/stores/postgres/embedded/machine.js'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'

/** Linux' user without rights. */
export const nobody = 65534

export const isLinux = process.platform === 'linux'
export const isRootOnLinux = isLinux && process.getuid?.() === 0

if (!isRootOnLinux) {
  process.stderr.write(
    `\n*** embedded Postgres: the tests that need ${isLinux ? 'root' : 'Linux and root'} are SKIPPED ***\n\n`,
  )
}

// A killed process loses nothing that the kernel has; only a power cut would.
const quick = { fsync: 'off' }
const quickInitdb = ['--no-sync']

/** What must be undone after a test, last first. */
const undo: (() => Promise<unknown>)[] = []

/** Undoes what the builders below have made; call it after each test. */
export async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}

const prefix = 'quittance-embedded-'

/** A folder that is gone after the test, and that any user may enter. */
export async function temporaryFolder(place: { onDisk?: boolean } = {}): Promise<string> {
  const folder = await makeTemporaryFolder(prefix, place)
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return folder
}

/** The path of a data folder that no server has used yet. */
export async function newFolder(place: { onDisk?: boolean } = {}): Promise<string> {
  return join(await temporaryFolder(place), 'data')
}

let seed: Promise<string> | null = null

/** A data folder that an earlier start has filled: a copy of one that the test file makes once. */
export async function usedFolder(): Promise<string> {
  seed ??= makeSeed()
  const folder = await newFolder()
  await copy(await seed, folder)
  return folder
}

/** Removes what the whole file shares; call it after all tests. */
export async function removeSeed(): Promise<void> {
  if (seed !== null) await rm(dirname(await seed), { recursive: true, force: true })
}

async function makeSeed(): Promise<string> {
  const parent = await makeTemporaryFolder(prefix)
  const folder = join(parent, 'data')
  const postgres = await startEmbeddedPostgres({ folder, initdbArgs: quickInitdb, log: () => undefined })
  await postgres.stop()
  return folder
}

/** Starts a server in this process, and stops it after the test. */
export async function start(folder: string, machine?: Machine): Promise<EmbeddedPostgres> {
  const options = { folder, settings: quick, initdbArgs: quickInitdb, log: () => undefined }
  const postgres = await startEmbeddedPostgres(options, machine)
  undo.push(() => postgres.stop())
  return postgres
}

/** A process of its own that owns a database. */
export interface Owner {
  readonly url: string
  readonly process: ChildProcess
  /** Ends it without a word, as `kill -9` and the kernel's memory killer do. */
  kill(): Promise<void>
}

const greeting = z.union([z.object({ url: z.string() }), z.object({ refusal: z.string() })])

/** Starts a process that owns a database; rejects with its own words when it refuses. */
export async function startOwner(
  folder: string,
  { uid, machine = {} }: { uid?: number; machine?: Partial<Machine> } = {},
): Promise<Owner> {
  const script = fileURLToPath(new URL('owner.ts', import.meta.url))
  const tsx = fileURLToPath(import.meta.resolve('tsx'))
  const child = spawn(process.execPath, ['--import', tsx, script, folder, JSON.stringify(machine)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, SIGNING_KEY: 'a key that no other process may read' },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const exited = once(child, 'exit')
  undo.push(async () => {
    child.stdin.end()
    await exited
  })
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => [JSON.stringify({ refusal: `ended with code ${code}` })]),
  ])
  const answer = greeting.parse(JSON.parse(line))
  if ('refusal' in answer) throw new Error(answer.refusal)
  return {
    url: answer.url,
    process: child,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Runs one statement and answers its first row's first column. */
export async function ask(url: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

/** The process number of the server that works on a data folder. */
export async function serverPid(folder: string): Promise<number> {
  return Number.parseInt(await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8'), 10)
}

/** Tells whether a process exists and is not merely unburied. */
export async function isAlive(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text !== '' && !/\) [ZX] /.test(text)
}

/** Waits until `condition` holds; rejects when it does not within `deadlineMs`. */
export async function until(condition: () => Promise<boolean>, deadlineMs = 10_000): Promise<void> {
  const deadline = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not so within ${deadlineMs} ms: ${condition}`)
    await delay(10)
  }
}

/** A process that has nothing to do with Postgres. */
export function startBystander(): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  undo.push(async () => void child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error('no process')
  return child.pid
}

/** Copies the npm package without the links that its install script makes. */
export async function copyPackageWithoutLinks(packageFolder: string): Promise<string> {
  const target = join(await temporaryFolder({ onDisk: true }), 'package')
  try {
    // Hard links: nothing writes to the files.
    await promisify(execFile)('cp', ['-al', packageFolder, target])
  } catch {
    // Another disk, or files that are not this user's to link.
    await rm(target, { recursive: true, force: true })
    await copy(packageFolder, target)
  }
  for (const entry of await readdir(join(target, 'native', 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(entry.parentPath, entry.name))
  }
  return target
}

// Node's own copy takes twenty times as long for the thousand files of a cluster.
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}
