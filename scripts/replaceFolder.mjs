import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Renames `next` to `target`, whose earlier content goes to `old`. */
export const replaceFolder = ({ target, next, old, isBuilt }) => {
  try {
    if (existsSync(target)) renameSync(target, old)
    renameSync(next, target)
  } catch (error) {
    // Another build of the same sources was faster.
    if (!isBuilt()) throw error
  }
}

/** Removes what builds left in a folder that ended before they could. */
export const removeAbandoned = (folder) => {
  for (const name of readdirSync(folder)) {
    const pid = /^dist\.(?:new|old)-(\d+)-[0-9a-f]+$/.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    rmSync(join(folder, name), { recursive: true, force: true })
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
