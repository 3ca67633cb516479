import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'

/** The bundle is a function of these: what a module has and a script lacks, and a loader of the packages outside. */
export const bundleParameters = ['loadModule', 'moduleMeta', 'require', '__filename', '__dirname'] as const

/** Of the bundle, in the folder of the module that runs it. */
export const scriptName = 'script.js'

/**
 * Runs the bundle of `compileProject` for the module that it stands for. A process that ends without a failure leaves what V8
 * compiled for those with the same command and options.
 */
export const runBundle = async (moduleUrl: string): Promise<void> => {
  const file = fileURLToPath(new URL(scriptName, moduleUrl))
  // V8 rejects what was compiled with other options.
  const kind = [...process.execArgv, process.argv[2] ?? ''].join(' ').replaceAll('/', '')
  const cache = `${file}.${kind}`
  const cachedData = readCache(cache)
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  })
  if (cachedData === undefined) {
    process.once('exit', (code) => {
      if (code === 0) writeCache(cache, script)
    })
  }
  const load = createRequire(moduleUrl)
  await script.runInThisContext()(load, { url: moduleUrl }, load, file, dirname(file))
}

const readCache = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

const writeCache = (path: string, script: Script): void => {
  try {
    const incomplete = `${path}.${process.pid}`
    writeFileSync(incomplete, script.createCachedData())
    renameSync(incomplete, path)
  } catch {
    // The process is another user, or its file system is read-only.
  }
}
