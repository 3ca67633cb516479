import { lchown, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { User } from './launch.js'

/** Makes `user` the owner of a folder and of all that is in it. Links themselves change, not their targets. */
export async function giveTo(path: string, user: User): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) await giveTo(inner, user)
    else await lchown(inner, user.uid, user.gid)
  }
  await lchown(path, user.uid, user.gid)
}
