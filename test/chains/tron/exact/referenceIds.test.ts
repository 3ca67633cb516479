import { describe, expect, it } from 'vitest'
import { createReferenceIds } from '../../../../src/chains/tron/exact/stateChecks.js'
import { createManualClock } from '../../../support/manualClock.js'

const head = 0x2_0010

/** A node whose blocks have their number as id. */
const createNode = ({ isKnown = () => true }: { readonly isKnown?: () => boolean } = {}) => {
  const asked: number[] = []
  const header = (number: number) => ({ id: `block ${number}`, number, timestamp: 0 })
  const rpc = {
    getHighestKnownBlock: () => head,
    getHead: async () => header(head),
    findHeader: async (number: number) => {
      asked.push(number)
      return isKnown() ? header(number) : null
    },
  }
  return { rpc, asked }
}

describe('the block that a payment refers to', () => {
  it('is the newest that ends in its bytes', async () => {
    const { rpc } = createNode()
    const find = createReferenceIds(rpc, createManualClock())
    expect(await find('0010')).toBe(`block ${0x2_0010}`)
    expect(await find('ff00')).toBe(`block ${0x1_ff00}`)
    expect(await find('not hex')).toBeNull()
  })

  it('is asked for once per block time, for all payments that name it', async () => {
    const { rpc, asked } = createNode()
    const clock = createManualClock()
    const find = createReferenceIds(rpc, clock)
    for (const bytes of ['0010', '0010', '000f', '0010']) await find(bytes)
    expect(asked).toEqual([0x2_0010, 0x2_000f])
    await clock.advance(3_000)
    await find('0010')
    expect(asked).toEqual([0x2_0010, 0x2_000f, 0x2_0010])
  })

  it('is asked for again while no node knows it', async () => {
    let isKnown = false
    const { rpc } = createNode({ isKnown: () => isKnown })
    const find = createReferenceIds(rpc, createManualClock())
    expect(await find('0010')).toBeNull()
    isKnown = true
    expect(await find('0010')).toBe(`block ${0x2_0010}`)
  })
})
