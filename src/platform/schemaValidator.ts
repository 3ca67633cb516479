import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { startDeadline } from '../concurrency/deadline.js'
import { createFairSlots } from '../concurrency/slots.js'
import type { SchemaValidator, SchemaVerdict } from '../ports/discovery.js'

const defaultDeadlineMs = 250
const startDeadlineMs = 10_000
/** One value is judged at a time, and of each owner one may wait. */
const slotOptions = {
  slots: 1,
  urgentSlots: 0,
  slotsPerOwner: 1,
  waitingPerOwner: 1,
  maxWaiting: 256,
} as const

/*
 * JavaScript that Node runs as it is: a file would have another name in dist than under tsx and vitest. It interprets the
 * schema; no code is generated from it.
 */
const workerSource = `
const { parentPort, workerData } = require('node:worker_threads')
const { Validator } = require(workerData)
const judge = ({ schema, value }) => {
  try {
    const { valid, errors } = new Validator(schema, '2020-12').validate(value)
    if (valid) return { kind: 'valid' }
    const leaf = errors.at(-1)
    const place = leaf?.instanceLocation.replace('#', 'info') ?? 'info'
    return { kind: 'mismatch', problem: place + ': ' + (leaf?.error ?? 'does not match') }
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'broken', problem: 'schema refers to itself without end' }
    const isUnresolved = error instanceof Error && error.message.startsWith('Unresolved $ref')
    return { kind: 'broken', problem: isUnresolved ? 'schema has a $ref that leads nowhere' : 'schema cannot be evaluated' }
  }
}
parentPort.on('message', (task) => parentPort.postMessage(judge(task)))
parentPort.postMessage('ready')
`

const verdictShape: z.ZodType<SchemaVerdict> = z.union([
  z.object({ kind: z.literal('valid') }),
  z.object({ kind: z.enum(['broken', 'mismatch']), problem: z.string() }),
])

interface OpenSchemaValidator extends SchemaValidator {
  close(): Promise<void>
}

/**
 * Validates in a thread of its own, one value at a time: what takes too long or too much memory ends the thread, and
 * never holds up a payment. The thread starts with the first validation, and knows no environment variable.
 */
export const createSchemaValidator = ({ deadlineMs = defaultDeadlineMs } = {}): OpenSchemaValidator => {
  const validatorPath = createRequire(import.meta.url).resolve('@cfworker/json-schema')
  const slots = createFairSlots(slotOptions)
  let thread: Promise<Worker> | null = null
  let isClosed = false

  const startThread = (): Promise<Worker> => {
    const worker = new Worker(workerSource, {
      eval: true,
      workerData: validatorPath,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
    })
    worker.unref()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The thread did not start')), startDeadlineMs)
      worker.once('message', () => {
        clearTimeout(timer)
        resolve(worker)
      })
      worker.once('error', (error) => {
        clearTimeout(timer)
        reject(error)
      })
    })
  }

  const judge = (worker: Worker, schema: unknown, value: unknown): Promise<SchemaVerdict> =>
    new Promise((resolve) => {
      const end = (verdict: SchemaVerdict, isUsable: boolean) => {
        deadline.end()
        worker.removeAllListeners('message').removeAllListeners('error').removeAllListeners('exit')
        if (!isUsable) {
          thread = null
          worker.on('error', () => undefined)
          void worker.terminate()
        }
        resolve(verdict)
      }
      const deadline = startDeadline(deadlineMs, () => end({ kind: 'timeout' }, false))
      worker.once('message', (message: unknown) => end(verdictShape.parse(message), true))
      // Out of memory.
      worker.once('error', () => end({ kind: 'timeout' }, false))
      worker.once('exit', () => end({ kind: 'timeout' }, false))
      worker.postMessage({ schema, value })
    })

  const refuseIfClosed = (): void => {
    if (isClosed) throw new Error('The validator is closed')
  }

  return {
    deadlineMs,
    validate: async (schema, value, { owner, signal }) => {
      refuseIfClosed()
      const release = await slots.acquire({ owner, isUrgent: false, signal })
      try {
        refuseIfClosed()
        thread ??= startThread()
        const worker = await thread.catch((error: unknown) => {
          thread = null
          throw error
        })
        return await judge(worker, schema, value)
      } finally {
        release()
      }
    },
    close: async () => {
      isClosed = true
      const worker = await thread?.catch(() => null)
      thread = null
      await worker?.terminate()
    },
  }
}
