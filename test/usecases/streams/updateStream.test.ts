import { describe, expect, it } from 'vitest'
import type { Stream } from '../../../src/ports/streamStore.js'
import type { Vouchers } from '../../../src/schemes/network.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createUpdateStream } from '../../../src/usecases/streams/updateStream.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryStreams } from '../../support/memoryStreams.js'
import { streamOf } from '../../support/streamOf.js'
import { createToyScheme } from '../../support/toyScheme.js'

const setup = (isSigned: Vouchers['isSigned'], change: Partial<Stream> = {}) => {
  const store = createMemoryStreams(null)
  const stream = streamOf({ amount: 500n, sequence: 5, voucher: '0x12', ...change })
  store.put(stream)
  const asked: bigint[] = []
  const scheme = createToyScheme({
    kind: { scheme: 'upto', network: 'toy:1' },
    network: {
      vouchers: {
        describe: () => ({ domain: {}, types: {}, primaryType: 'Voucher', message: {} }),
        isSigned: async (voucher, ...rest) => {
          asked.push(voucher.sequence)
          return await isSigned(voucher, ...rest)
        },
      },
    },
  })
  const clock = createManualClock(new Date('2026-01-01T00:10:00Z'))
  const updateStream = createUpdateStream({ store, registry: createSchemeRegistry([scheme]), clock })
  const send = (amount: string, sequence: number, signature = '0x34') =>
    updateStream(
      { caller: stream.caller, token: null },
      { streamId: stream.id, amount, sequence, voucher: { signature } },
    )
  return { asked, send, store, stream, clock }
}

const chainIsDown: Vouchers['isSigned'] = async () => {
  throw new Error('The chain does not answer')
}

describe('an update with a voucher', () => {
  it('is stored once the payer is known to have signed it', async () => {
    const { asked, send, store, stream } = setup(async () => true)
    expect(await send('600', 6)).toMatchObject({ stream: { currentAmount: '600', sequence: 6 } })
    expect(store.get(stream.id)).toMatchObject({ voucher: '0x34' })
    expect(asked).toEqual([6n])
  })

  it('of another signer, or of a chain that does not answer, changes nothing', async () => {
    const forged = setup(async () => false)
    await expect(forged.send('600', 6)).rejects.toMatchObject({ code: 'INVALID_VOUCHER' })
    expect(forged.store.get(forged.stream.id)).toEqual(forged.stream)
    const down = setup(chainIsDown)
    await expect(down.send('600', 6)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(down.store.get(down.stream.id)).toEqual(down.stream)
  })

  it.each([
    ['is repeated', '500', 5, {}, null],
    ['has a lower sequence', '600', 4, {}, 'INVALID_SEQUENCE'],
    ['has a lower amount', '400', 6, {}, 'INVALID_AMOUNT'],
    ['exceeds the maximum', '10001', 6, {}, 'AMOUNT_EXCEEDED'],
    ['comes while the stream is paused', '600', 6, { state: 'paused' }, 'STREAM_NOT_ACTIVE'],
    ['comes after the close', '600', 6, { state: 'closing', finalAmount: 500n }, 'STREAM_NOT_ACTIVE'],
  ] as const)('that %s is answered without the chain', async (_name, amount, sequence, change, code) => {
    const { asked, send } = setup(chainIsDown, change)
    const answer = send(amount, sequence, '0x12')
    if (code === null) expect(await answer).toMatchObject({ stream: { currentAmount: '500' } })
    else await expect(answer).rejects.toMatchObject({ code })
    expect(asked).toEqual([])
  })

  it('that repeats an amount with another signature is verified', async () => {
    const { send } = setup(async () => false)
    await expect(send('500', 5, '0x99')).rejects.toMatchObject({ code: 'INVALID_VOUCHER' })
  })

  it('that is refused asks the chain a hundred times in ten seconds at most, for its stream alone', async () => {
    const signed = new Set<string>()
    const { asked, send, clock } = setup(async (_voucher, _payer, signature) => signed.has(signature))
    for (let count = 0; count < 100; count++) {
      await expect(send('600', 6)).rejects.toMatchObject({ code: 'INVALID_VOUCHER' })
    }
    signed.add('0x56')
    await expect(send('600', 6, '0x56')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    expect(asked).toHaveLength(100)
    await clock.advance(10_000)
    expect(await send('600', 6, '0x56')).toMatchObject({ stream: { currentAmount: '600' } })
  })
})
