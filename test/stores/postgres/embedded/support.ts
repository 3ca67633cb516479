import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { z } from 'zod'
import type { Machine } from '../../../../src/stores/postgres/embedded/machine.js'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../../src/stores/postgres/embedded/startEmbeddedPostgres.js'
import { findProgram } from '../../../support/program.js'
import { spawnChild } from '../../../support/spawnChild.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'

export const nobody = 65534

export const isLinux = process.platform === 'linux'
export const isRootOnLinux = isLinux && process.getuid?.() === 0

if (!isRootOnLinux) {
  process.stderr.write(
    `\n*** embedded Postgres: the tests that need ${isLinux ? 'root' : 'Linux and root'} are SKIPPED ***\n\n`,
  )
}

// Killed processes lose nothing that is in the page cache.
const quick = { fsync: 'off' }
const quickInitdb = ['--no-sync']

const undo: (() => Promise<unknown>)[] = []

export async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}

const prefix = 'quittance-embedded-'

/** Removed after the test; every user can enter it. */
export async function temporaryFolder(place: { onDisk?: boolean } = {}): Promise<string> {
  const folder = await makeTemporaryFolder(prefix, place)
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return folder
}

export async function newFolder(place: { onDisk?: boolean } = {}): Promise<string> {
  return join(await temporaryFolder(place), 'data')
}

let seed: Promise<string> | null = null

/** A copy of an initialized data folder, which is created once per test file. */
export async function usedFolder(): Promise<string> {
  seed ??= makeSeed()
  const folder = await newFolder()
  await copy(await seed, folder)
  return folder
}

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

/** Stopped after the test. */
export async function start(
  folder: string,
  machine?: Machine,
  log: (line: string) => void = () => undefined,
): Promise<EmbeddedPostgres> {
  const options = { folder, settings: quick, initdbArgs: quickInitdb, log }
  const postgres = await startEmbeddedPostgres(options, machine)
  undo.push(() => postgres.stop())
  return postgres
}

interface Owner {
  readonly url: string
  readonly process: ChildProcess
  /** SIGKILL, as by `kill -9` or the OOM killer. */
  kill(): Promise<void>
}

const greeting = z.union([z.object({ url: z.string() }), z.object({ refusal: z.string() })])

/** Rejects with the error of the process. */
export async function startOwner(
  folder: string,
  { uid, machine = {} }: { uid?: number; machine?: Partial<Machine> } = {},
): Promise<Owner> {
  const { flags, file } = findProgram(new URL('owner.ts', import.meta.url))
  const child = spawn(process.execPath, [...flags, file, folder, JSON.stringify(machine)], {
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
    // Its exit does not suffice: this process can notice that before what it wrote.
    once(child, 'close').then(([code]) => [JSON.stringify({ refusal: `ended with code ${code}` })]),
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

/** Returns the first column of the first row. */
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

export async function serverPid(folder: string): Promise<number> {
  return Number.parseInt(await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8'), 10)
}

/** Whether a process exists and is not a zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text !== '' && !/\) [ZX] /.test(text)
}

export function startBystander(): number {
  const child = spawnChild([process.execPath, '-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  undo.push(async () => void child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error('no process')
  return child.pid
}

export async function copyPackageWithoutLinks(packageFolder: string): Promise<string> {
  const target = join(await temporaryFolder({ onDisk: true }), 'package')
  try {
    // Hard links, because the files are read-only.
    await promisify(execFile)('cp', ['-al', packageFolder, target])
  } catch {
    // Another file system, or no permission to link.
    await rm(target, { recursive: true, force: true })
    await copy(packageFolder, target)
  }
  for (const entry of await readdir(join(target, 'native', 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(entry.parentPath, entry.name))
  }
  return target
}

// Node's copy takes twenty times as long for the thousand files of a cluster.
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}
