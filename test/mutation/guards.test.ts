import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readText } from '../support/readText.js'
import { removeGuard } from './guard.js'
import { guardsByPart } from './index.js'

/* `npm run mutation` removes each guard and runs its tests; this keeps the list true to the source. */

describe.each(Object.entries(guardsByPart))('the guards of %s', (_part, guards) => {
  it.each(guards)('$name', (guard) => {
    expect(removeGuard(guard, readText(guard.file))).not.toBe(readText(guard.file))
    expect(guard.tests.length).toBeGreaterThan(0)
    for (const test of guard.tests) expect(existsSync(test), test).toBe(true)
  })

  it('have names of their own', () => {
    expect(new Set(guards.map(({ name }) => name)).size).toBe(guards.length)
  })
})
