import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'

/** The bundle is a function of these: what a module has and a script lacks, and a loader of the packages outside. */
export const bundleParameters = ['loadModule', 'moduleMeta', 'require', '__filename', '__dirname'] as const

/** Of the bundle of a module in the same folder, by the path or the URL of the module. */
export const scriptOf = (path: string): string => path.replace(/\.js$/, '.script.js')

/**
 * Runs a bundle of `compileProject` for the module that it stands for. A process that ends without a failure leaves what V8
 * compiled: for those with the same command and options, and for those with the same options whose command left nothing yet.
 */
export const runBundle = async (moduleUrl: string): Promise<void> => {
  const file = fileURLToPath(scriptOf(moduleUrl))
  // V8 rejects what was compiled with other options.
  const ofOptions = `${file}.${process.execArgv.join(' ').replaceAll('/', '')}`
  const ofCommand = `${ofOptions} ${process.argv[2]?.replaceAll('/', '') ?? ''}.command`
  const own = readCache(ofCommand)
  const cachedData = own ?? readCache(ofOptions)
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  })
  if (own === undefined) {
    process.once('exit', (code) => {
      if (code === 0) writeCache(script, cachedData === undefined ? [ofOptions, ofCommand] : [ofCommand])
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

const writeCache = (script: Script, paths: readonly string[]): void => {
  try {
    for (const path of paths) {
      const incomplete = `${path}.${process.pid}`
      // Opened first: the process may be another user, or its file system read-only.
      const file = openSync(incomplete, 'wx')
      writeFileSync(file, script.createCachedData())
      closeSync(file)
      renameSync(incomplete, path)
    }
  } catch {
    // The next process compiles it again.
  }
}
