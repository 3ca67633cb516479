import { once } from 'node:events'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { spawnChild } from '../../test/support/spawnChild.js'
import { root } from '../launch.js'

export interface Worker {
  /** Sends a message, and waits for the next one from the process. */
  ask(message: object): Promise<unknown>
  stop(): Promise<void>
}

/** A process of this folder. Its priority: 0 is the usual one, 19 the lowest. */
export const startWorker = async (file: string, priority: number): Promise<Worker> => {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = spawnChild([process.execPath, '--import', 'tsx', path], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const failed = ended.then(() => {
    throw new Error(`${file} ended early`)
  })
  failed.catch(() => undefined)
  const receive = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), failed])
    return message
  }
  await receive()
  if (child.pid !== undefined) setPriority(child.pid, priority)
  return {
    ask: (message) => {
      const answer = receive()
      child.send(message)
      return answer
    },
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** In the process: answers each message with the result of `work`. */
export const serve = (work: (message: unknown) => Promise<object>): void => {
  process.on('message', async (message) => {
    process.send?.(await work(message))
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.({ isReady: true })
}
