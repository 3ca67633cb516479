import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { fingerprintSources, isBuilt, root, stampName } from './fingerprint.mjs'

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/**
 * Compiles src to dist. The new folder replaces the old one as a whole: a failed or interrupted build leaves the old one,
 * and what reads dist meanwhile never sees half of it.
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
    await compile(next)
    // The command `quittance` of the image is a link to it.
    chmodSync(join(next, 'main.js'), 0o755)
    writeFileSync(join(next, stampName), fingerprint)
    replace(next, old)
  } finally {
    for (const folder of [next, old]) rmSync(folder, { recursive: true, force: true })
    removeAbandoned()
  }
}

const compile = (folder) =>
  new Promise((resolve, reject) => {
    const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder]
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

const replace = (next, old) => {
  const target = join(root, 'dist')
  try {
    if (existsSync(target)) renameSync(target, old)
    renameSync(next, target)
  } catch (error) {
    // Another build of the same sources was faster.
    if (!isBuilt()) throw error
  }
}

const removeAbandoned = () => {
  for (const name of readdirSync(root)) {
    const pid = /^dist\.(?:new|old)-(\d+)-[0-9a-f]+$/.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    rmSync(join(root, name), { recursive: true, force: true })
  }
}

const isRunning = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const usage = `Usage: npm run build

Compiles src to dist, for npm start, npm run admin, deploy and listen; they do it themselves when the sources changed.`

if (argv[1] === fileURLToPath(import.meta.url)) {
  if (argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  build().catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
