// Imports every script of the service, also what it loads only when a chain family is enabled: a module that pruning
// removed by mistake fails here. `main.js` would start the service.
import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = resolve('dist')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.js') && basename(name) !== 'main.js',
)
const failures = []
for (const name of files) {
  await import(pathToFileURL(join(folder, name)).href).catch((error) =>
    failures.push(`${name}: ${error instanceof Error ? error.message : error}`),
  )
}
if (files.length === 0) failures.push('dist has no files')
for (const failure of failures) process.stderr.write(`error: ${failure}\n`)
if (failures.length === 0) process.stdout.write(`ok: ${files.length} files of dist import what they need\n`)
process.exit(failures.length === 0 ? 0 : 1)
