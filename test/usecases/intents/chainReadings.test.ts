import { describe, expect, it } from 'vitest'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createChainReadings } from '../../../src/usecases/intents/chainReadings.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createToyScheme } from '../../support/toyScheme.js'

/** A network whose balances arrive on demand. */
const slowScheme = (network: string) => {
  const answers: (() => void)[] = []
  let most = 0
  let running = 0
  const scheme: Scheme = createToyScheme({
    kind: { scheme: 'exact', network },
    network: {
      balances: {
        read: async () => {
          running += 1
          most = Math.max(most, running)
          await new Promise<void>((resolve) => answers.push(resolve))
          running -= 1
          return 1n
        },
      },
    },
  })
  const answerAll = async () => {
    while (answers.length > 0) {
      answers.shift()?.()
      await drainEventLoop()
    }
  }
  return { scheme, answerAll, countMost: () => most }
}

const open = (readingsAtOnce: number, deadlineMs = waitLimitMs) =>
  createChainReadings({ clock: createManualClock(), deadlineMs, readingsAtOnce })

describe('readings of a chain', () => {
  it('are so many at once for each network, however many are asked for', async () => {
    const readings = open(2)
    const slow = slowScheme('toy:1')
    const other = slowScheme('toy:2')
    const owners = Array.from({ length: 10 }, (_, at) => `owner-${at}`)
    const all = Promise.all(owners.map((owner) => readings.readBalance(slow.scheme, 'gold', owner)))
    const another = readings.readBalance(other.scheme, 'gold', 'alice')
    await drainEventLoop()
    await other.answerAll()
    // The busy network does not delay the other one.
    expect(await another).toBe(1n)
    await slow.answerAll()
    expect(await all).toEqual(owners.map(() => 1n))
    expect(slow.countMost()).toBe(2)
  })

  it('end at their deadline, also those that wait for others, and later ones are read again', async () => {
    const readings = open(1, 20)
    const slow = slowScheme('toy:1')
    const read = (owner: string) => readings.readBalance(slow.scheme, 'gold', owner)
    const outcomes = await Promise.allSettled(['alice', 'bob'].map(read))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await slow.answerAll()
    const again = read('alice')
    await drainEventLoop()
    await slow.answerAll()
    expect(await again).toBe(1n)
  })

  it('are no more at once than allowed, although those before were given up', async () => {
    const readings = open(2, 20)
    const slow = slowScheme('toy:1')
    const owners = Array.from({ length: 6 }, (_, at) => `owner-${at}`)
    for (const owner of owners) {
      await expect(readings.readBalance(slow.scheme, 'gold', owner)).rejects.toThrow('The deadline passed')
    }
    expect(slow.countMost()).toBe(2)
  })

  it('are null where the scheme cannot read', async () => {
    const readings = open(1)
    expect(await readings.readBalance(createToyScheme(), 'gold', 'alice')).toBeNull()
    expect(await readings.estimateFee(createToyScheme())).toBeNull()
  })
})
