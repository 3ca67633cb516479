import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, vi } from 'vitest'
import { createSchemaValidator } from '../../src/platform/schemaValidator.js'
import { waitLimitMs } from './pollUntil.js'

/** With `victim`, a thread judges it for years. */
export const backtracking = { pattern: '^(G+)+$' }
export const victim = `${'G'.repeat(60)}!`

/** A busy machine must not cut what takes no time. */
export const createPatientValidator = () => createSchemaValidator({ deadlineMs: waitLimitMs })

/** The deadline of a patient validator passes once a thread judges `victim`: tests neither wait for it nor race with it. */
export const useManualDeadlines = (): void => {
  beforeEach(() => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { postMessage } = Worker.prototype
    vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, task: unknown) {
      postMessage.call(this, task)
      const [endJudgement, deadlineMs] = timers.mock.lastCall ?? []
      const isCut = deadlineMs === waitLimitMs && JSON.stringify(task).includes(victim)
      if (isCut && endJudgement !== undefined) setImmediate(endJudgement)
    })
  })
  afterEach(() => vi.restoreAllMocks())
}
