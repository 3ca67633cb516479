import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type PreparedBytes, prepareBytes } from './apiDocuments.js'

interface ConsoleAsset {
  readonly mediaType: string
  /** By content coding; `identity` always exists. */
  readonly forms: ReadonlyMap<Coding, Buffer>
}

type Coding = 'br' | 'gzip' | 'identity'

export interface ConsoleFiles {
  readonly index: PreparedBytes
  /** By name; each name contains a hash of the content. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>
}

// Two levels up from both `src` and `dist`, as package.json; a bundle keeps the depth of this folder.
const consoleFolder = fileURLToPath(new URL('../../web/dist/', import.meta.url))

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

const known = new Map<string, ConsoleFiles>()

/** All files of a built console, read once and kept in memory; null where it was not built. */
export const readConsoleFiles = (folder = consoleFolder): ConsoleFiles | null => {
  const files = known.get(folder) ?? readFolder(folder)
  if (files !== null) known.set(folder, files)
  return files
}

const readFolder = (folder: string): ConsoleFiles | null => {
  const index = `${folder}/index.html`
  if (!existsSync(index)) return null
  const names = readdirSync(`${folder}/assets`).filter((name) => extname(name) in mediaTypes)
  return {
    index: prepareBytes(readFileSync(index)),
    assets: new Map(names.map((name) => [name, readAsset(`${folder}/assets/${name}`)])),
  }
}

const readAsset = (path: string): ConsoleAsset => {
  const forms = new Map<Coding, Buffer>([['identity', readFileSync(path)]])
  if (existsSync(`${path}.br`)) forms.set('br', readFileSync(`${path}.br`))
  if (existsSync(`${path}.gz`)) forms.set('gzip', readFileSync(`${path}.gz`))
  return { mediaType: mediaTypes[extname(path)] ?? 'application/octet-stream', forms }
}

const preferred = ['br', 'gzip'] as const satisfies readonly Coding[]

/** The smallest form that the client accepts (RFC 9110, section 12.5.3). */
export const chooseForm = ({ forms }: ConsoleAsset, acceptEncoding = ''): readonly [Coding, Buffer] => {
  const accepted = acceptEncoding
    .slice(0, maxLength)
    .toLowerCase()
    .split(',')
    .map((entry) => entry.replaceAll(/\s/g, ''))
    .filter((entry) => !/;q=0(?:\.0*)?$/.test(entry))
    .map((entry) => entry.split(';', 1)[0])
  const identity = forms.get('identity') ?? Buffer.alloc(0)
  for (const coding of preferred) {
    const form = forms.get(coding)
    if (form !== undefined && accepted.includes(coding)) return [coding, form]
  }
  return ['identity', identity]
}

const maxLength = 1_000
