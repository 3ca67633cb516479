import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { buildWeb } from './buildWeb.mjs'
import { bundle } from './bundle.mjs'
import { fingerprintSources, isBuilt, root, stampName } from './fingerprint.mjs'
import { removeAbandoned, replaceFolder } from './replaceFolder.mjs'

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
// In dist: the names of the scripts of its own build, and of those whose scripts it has kept.
const scriptsName = '.scripts.json'
// A service is seldom built more often before it is restarted, although `npm run admin` also builds after each change.
const keptBuilds = 3

/**
 * Checks the types of src, and bundles it to dist. The new folder replaces the old one as a whole: a failed or interrupted build
 * leaves the old one, and what reads dist meanwhile never sees half of it.
 */
export const build = async () => {
  if (!existsSync(compiler)) {
    throw new Error(
      'dist does not match src, and TypeScript is not installed: run npm ci, then npm run build.',
    )
  }
  const fingerprint = fingerprintSources()
  const suffix = `${process.pid}-${randomBytes(3).toString('hex')}`
  const [next, old] = [join(root, `dist.new-${suffix}`), join(root, `dist.old-${suffix}`)]
  try {
    await checkTypes()
    mkdirSync(next)
    keepEarlierScripts(next, await bundle(next))
    writeFileSync(join(next, stampName), fingerprint)
    replaceFolder({ target: join(root, 'dist'), next, old, isBuilt })
  } finally {
    for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
    removeAbandoned(root)
  }
}

/**
 * A service that runs from an old dist imports more of its scripts later, such as at its first sign-in, and their names differ
 * in each build: those of the last builds of other sources stay.
 */
const keepEarlierScripts = (next, scripts) => {
  const dist = join(root, 'dist')
  const isSame = (names) => names.length === scripts.length && names.every((name) => scripts.includes(name))
  const earlier = listEarlierScripts(dist)
    .filter((names) => !isSame(names))
    .slice(0, keptBuilds)
  for (const name of new Set(earlier.flat())) {
    if (!existsSync(join(next, name))) copyIfThere(join(dist, name), join(next, name))
  }
  writeFileSync(join(next, scriptsName), JSON.stringify([scripts, ...earlier]))
}

/** The names of the scripts of each build, the newest first. An earlier release left no list: then all scripts are of one build. */
const listEarlierScripts = (dist) => {
  try {
    return JSON.parse(readFileSync(join(dist, scriptsName), 'utf8')).filter(Array.isArray)
  } catch {
    if (!existsSync(dist)) return []
    return [readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))]
  }
}

const copyIfThere = (from, to) => {
  try {
    cpSync(from, to)
  } catch (error) {
    // Another build that ends at the same time has renamed the folder.
    if (error.code !== 'ENOENT') throw error
  }
}

const checkTypes = () =>
  new Promise((resolve, reject) => {
    const args = [compiler, '-p', join(root, 'tsconfig.build.json')]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
    const stop = (signal) => {
      child.kill(signal)
      reject(new Error(`The build was ended by ${signal}.`))
    }
    process.once('SIGTERM', stop).once('SIGINT', stop)
    child.once('error', reject)
    child.once('exit', (code) => {
      process.off('SIGTERM', stop).off('SIGINT', stop)
      if (code === 0) resolve()
      else reject(new Error('The sources do not compile: see the messages above.'))
    })
  })

const usage = `Usage: npm run build

Checks the types of src and bundles it with its packages to dist, for npm start, npm run admin, deploy and listen, and the
console from web/src to web/dist; they do it themselves when the sources changed.`

if (argv[1] === fileURLToPath(import.meta.url)) {
  if (argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  Promise.all([build(), buildWeb()]).catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
