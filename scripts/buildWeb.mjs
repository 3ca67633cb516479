import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { root } from './fingerprint.mjs'
import { removeAbandoned, replaceFolder } from './replaceFolder.mjs'

const web = join(root, 'web')
const target = join(web, 'dist')
const stampName = '.inputs.json'
// They decide what the bundle contains, as do the files that it imports.
const recipe = ['scripts/buildWeb.mjs', 'web/index.html', 'web/tsconfig.json']

/** An installation without sources, such as the image, has only web/dist: it matches. */
export const isWebBuilt = () => {
  if (!existsSync(join(web, 'src'))) return true
  const stamp = join(target, stampName)
  if (!existsSync(stamp)) return false
  const { inputs, fingerprint } = JSON.parse(readFileSync(stamp, 'utf8'))
  return fingerprint === fingerprintInputs(inputs)
}

/**
 * Bundles web/src to web/dist, unless it is built from the same files; it takes less than a second. The new folder replaces
 * the old one as a whole: a failed or interrupted build leaves the old one.
 */
export const buildWeb = async () => {
  if (isWebBuilt()) return
  const { build } = await import('esbuild').catch(() => {
    throw new Error('web/dist does not match web/src, and esbuild is not installed: run npm ci.')
  })
  const suffix = `${process.pid}-${randomBytes(3).toString('hex')}`
  const [next, old] = [join(web, `dist.new-${suffix}`), join(web, `dist.old-${suffix}`)]
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: { console: 'web/src/main.tsx', style: 'web/src/styles/index.css' },
      outdir: join(next, 'assets'),
      entryNames: '[name]-[hash]',
      tsconfig: join(web, 'tsconfig.json'),
      // After `console-…` in any order of names.
      chunkNames: 'part-[name]-[hash]',
      splitting: true,
      bundle: true,
      minify: true,
      metafile: true,
      format: 'esm',
      target: ['es2022', 'safari16', 'firefox115', 'chrome109'],
      legalComments: 'none',
      logLevel: 'error',
    })
    const inputs = [...new Set([...recipe, ...Object.keys(metafile.inputs)])].sort()
    writePage(next, metafile.outputs)
    writeLicenses(next, inputs)
    compressAssets(join(next, 'assets'))
    const fingerprint = fingerprintInputs(inputs)
    writeFileSync(join(next, stampName), JSON.stringify({ inputs, fingerprint }))
    replaceFolder({ target, next, old, isBuilt: isWebBuilt })
  } finally {
    for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
    removeAbandoned(web)
  }
}

/** Null if one of them is missing. */
const fingerprintInputs = (inputs) => {
  const hash = createHash('sha256')
  for (const path of inputs) {
    const file = join(root, path)
    if (!existsSync(file)) return null
    const content = readFileSync(file)
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

const writePage = (folder, outputs) => {
  const find = (form) => {
    const path = Object.keys(outputs).find((each) => form.test(basename(each)))
    if (path === undefined) throw new Error(`The bundle of the console has no file like ${form}.`)
    return path
  }
  const script = find(/^console-\w+\.js$/)
  // Otherwise the browser asks for them only after it has read the script.
  const shared = outputs[script].imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="/console/assets/${basename(path)}">\n`)
  const page = readFileSync(join(web, 'index.html'), 'utf8')
    .replace('{script}', basename(script))
    .replace('{style}', basename(find(/^style-\w+\.css$/)))
    .replace('{shared}\n', shared.join(''))
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), page)
}

/** The licenses of what the bundle contains ask for their text beside it. */
const writeLicenses = (folder, inputs) => {
  const packages = new Set(
    inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  )
  const texts = [...packages].sort().map((name) => {
    const from = join(root, 'node_modules', ...name.split('/'))
    const file = readdirSync(from).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} has no license file.`)
    return `${name}\n\n${readFileSync(join(from, file), 'utf8').trim()}\n`
  })
  writeFileSync(join(folder, 'assets', 'licenses.txt'), texts.join('\n---\n\n'))
}

/** Once here, so that no request pays for it. */
const compressAssets = (folder) => {
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name))
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  buildWeb().catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
