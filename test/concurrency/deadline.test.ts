import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { withinDeadline, withTimeout } from '../../src/concurrency/deadline.js'

const never = new AbortController().signal

/** Resolves with the abort reason. */
const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason))
  })

describe('work within a deadline', () => {
  it('is aborted at the deadline', async () => {
    const reason = await withinDeadline({ milliseconds: 20, stopped: never }, untilAborted)
    expect(reason).toMatchObject({ name: 'TimeoutError', message: 'The deadline passed' })
  })

  it('is aborted when stopped, also if that was before the start', async () => {
    const stopping = new AbortController()
    const work = withinDeadline({ milliseconds: 600_000, stopped: stopping.signal }, untilAborted)
    stopping.abort('closing')
    expect(await work).toBe('closing')
    expect(await withinDeadline({ milliseconds: 600_000, stopped: stopping.signal }, untilAborted)).toBe(
      'closing',
    )
  })

  it('passes on results and errors', async () => {
    const deadline = { milliseconds: 600_000, stopped: never }
    expect(await withinDeadline(deadline, async () => 7)).toBe(7)
    await expect(withinDeadline(deadline, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})

describe('work with a timeout', () => {
  it('passes on results and errors', async () => {
    expect(await withTimeout(Promise.resolve(7), 600_000)).toBe(7)
    await expect(withTimeout(Promise.reject(new Error('no node')), 600_000)).rejects.toThrow('no node')
  })

  it('is given up at the deadline, and may fail afterwards', async () => {
    let fail: (error: Error) => void = () => undefined
    const work = new Promise<never>((_, reject) => {
      fail = reject
    })
    await expect(withTimeout(work, 20)).rejects.toThrow('The deadline passed')
    // An unhandled rejection would fail the test.
    fail(new Error('too late'))
    await expect(work).rejects.toThrow('too late')
  })

  it('is in time if its answer has arrived while the process stood still', async () => {
    const hasAnswered = new Int32Array(new SharedArrayBuffer(4))
    const answering = `
      const { parentPort, workerData } = require('node:worker_threads')
      parentPort.once('message', () => {
        parentPort.postMessage('paid')
        Atomics.store(workerData, 0, 1)
      })
      parentPort.postMessage('ready')`
    const worker = new Worker(answering, { eval: true, workerData: hasAnswered })
    await once(worker, 'message')
    // Timers are the next that the event loop runs, and messages come behind them.
    await new Promise((resolve) => setImmediate(resolve))
    const answer = withTimeout(once(worker, 'message'), 1)
    worker.postMessage('pay')
    // It takes longer than the deadline, and ends when the answer is there.
    do spawnSync('true')
    while (Atomics.load(hasAnswered, 0) === 0)
    expect(await answer).toEqual(['paid'])
    await worker.terminate()
  })
})
