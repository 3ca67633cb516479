import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from '../../src/stores/postgres/embedded/machine.js'
import { type UnpackedPackages, unpackDebianPackages } from './debianPackages.js'

// Locations of Debian, the PostgreSQL RPMs, and Homebrew.
const folders = [
  '/usr/lib/postgresql/15/bin',
  '/usr/pgsql-15/bin',
  '/opt/homebrew/opt/postgresql@15/bin',
  '/usr/local/opt/postgresql@15/bin',
]

// Packages of Debian 12: the server and libraries that small images lack.
const packages = [
  ...['postgresql-15', 'libpq5', 'libicu72', 'libxml2', 'libldap-2.5-0', 'libsasl2-2', 'libssl3'],
  ...['libgssapi-krb5-2', 'libkrb5-3', 'libk5crypto3', 'libkrb5support0', 'libcom-err2', 'libkeyutils1'],
] as const

/** Binaries of the oldest supported Postgres: installed, or unpacked from Debian packages. */
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

/** Wraps each program in a script that sets LD_LIBRARY_PATH: the launcher passes no environment. */
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
