import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from '../../src/stores/postgres/embedded/listBinaries.js'
import { type UnpackedPackages, unpackDebianPackages } from './debianPackages.js'

// Where Debian, PostgreSQL's own packages for Red Hat, and Homebrew put it.
const folders = [
  '/usr/lib/postgresql/15/bin',
  '/usr/pgsql-15/bin',
  '/opt/homebrew/opt/postgresql@15/bin',
  '/usr/local/opt/postgresql@15/bin',
]

// Debian 12's server, and the libraries of it that a small image may lack.
const packages = [
  ...['postgresql-15', 'libpq5', 'libicu72', 'libxml2', 'libldap-2.5-0', 'libsasl2-2', 'libssl3'],
  ...['libgssapi-krb5-2', 'libkrb5-3', 'libk5crypto3', 'libkrb5support0', 'libcom-err2', 'libkeyutils1'],
] as const

/** Finds the programs of the oldest Postgres that the service supports: installed, else unpacked in the cache. */
export const findPostgres15 = async (): Promise<Binaries | null> => {
  for (const bin of folders) {
    if (await runs(bin)) return { origin: bin, bin, packageFolder: null }
  }
  const unpacked = await unpackDebianPackages({
    name: 'postgresql-15',
    packages,
    isUsable: async (copy) => runs(await wrapPrograms(copy)),
  })
  if (unpacked === null) return null
  return { origin: 'Debian’s packages', bin: binOf(unpacked), packageFolder: null }
}

const binOf = ({ folder }: UnpackedPackages): string => join(folder, 'bin')

/** Puts a script before each program: the launcher starts them without this process's environment. */
const wrapPrograms = async (unpacked: UnpackedPackages): Promise<string> => {
  const bin = binOf(unpacked)
  await mkdir(bin, { recursive: true })
  for (const name of ['postgres', 'initdb']) {
    const program = join(unpacked.folder, 'usr/lib/postgresql/15/bin', name)
    const script = `#!/bin/sh\nLD_LIBRARY_PATH='${unpacked.libraryPath}' exec '${program}' "$@"\n`
    await writeFile(join(bin, name), script)
    await chmod(join(bin, name), 0o755)
  }
  return bin
}

const runs = async (bin: string): Promise<boolean> => {
  try {
    const { stdout } = await promisify(execFile)(join(bin, 'postgres'), ['--version'])
    return stdout.includes('(PostgreSQL) 15.')
  } catch {
    return false
  }
}
