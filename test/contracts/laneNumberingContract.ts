import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Lane, Recorder, SignedTransaction } from '../../src/ports/settlementJournal.js'
import type { SignerLanes } from '../../src/ports/signerLanes.js'

/** Lanes that nobody has used, as one living instance sees them. */
export interface LanesHarness {
  readonly lanes: SignerLanes
  /** The recorder of a new settlement of a network, which says what it was told of. */
  openRecorder(network: string): Promise<{ readonly recorder: Recorder; readonly noted: readonly string[] }>
  close(): Promise<void>
}

const lane: Lane = { network: 'eip155:84532', signer: '0x1111111111111111111111111111111111111111' }
const otherSigner: Lane = { ...lane, signer: '0x2222222222222222222222222222222222222222' }
const otherNetwork: Lane = { ...lane, network: 'eip155:8453' }

/** Signs like a lane's account would: one transaction a number. */
const signFor =
  ({ network, signer }: Lane) =>
  async (nonce: number): Promise<SignedTransaction> => ({
    transaction: `${network}/${signer}/${nonce}`,
    bytes: `bytes ${nonce}`,
  })

/** What every implementation of the port promises of numbers; the care for lanes needs what instances share. */
export const describeLaneNumbering = (name: string, open: () => Promise<LanesHarness>): void => {
  describe(name, () => {
    let harness: LanesHarness
    let lanes: SignerLanes
    beforeEach(async () => {
      harness = await open()
      lanes = harness.lanes
      for (const each of [lane, otherSigner, otherNetwork]) await lanes.advance(each, 5)
    })
    afterEach(() => harness.close())

    const recordIn = async (target: Lane): Promise<void> => {
      const { recorder } = await harness.openRecorder(target.network)
      await lanes.record(target, [recorder], signFor(target))
    }
    const noncesOf = async (target: Lane) => (await lanes.listFrom(target, 0, 100)).map(({ nonce }) => nonce)

    it('number each lane by itself, without gaps, also when 20 are recorded at once', async () => {
      const many = Array.from({ length: 20 }, (_, index) => recordIn(index % 2 === 0 ? lane : otherSigner))
      await Promise.all([...many, recordIn(otherNetwork)])
      expect(await noncesOf(lane)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
      expect(await noncesOf(otherSigner)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
      expect(await noncesOf(otherNetwork)).toEqual([5])
      expect(await lanes.readNext(lane)).toBe(15)
    })

    it('give a number that nothing was signed for to the next', async () => {
      const { recorder, noted } = await harness.openRecorder(lane.network)
      const refused = lanes.record(lane, [recorder], async () => {
        throw new Error('The key is gone')
      })
      await expect(refused).rejects.toThrow('The key is gone')
      expect(noted).toEqual([])
      expect(await noncesOf(lane)).toEqual([])
      await recordIn(lane)
      expect(await noncesOf(lane)).toEqual([5])
    })

    it('tell every recorder of the transaction that carries its settlement, and answer it', async () => {
      const opened = [await harness.openRecorder(lane.network), await harness.openRecorder(lane.network)]
      const recorders = opened.map(({ recorder }) => recorder)
      const answer = await lanes.record(lane, recorders, signFor(lane))
      const transaction = `${lane.network}/${lane.signer}/5`
      expect(answer).toEqual({ recorded: { transaction, bytes: 'bytes 5' } })
      expect(opened.map(({ noted }) => noted)).toEqual([[transaction], [transaction]])
    })

    it('record for no settlement what only fills a gap', async () => {
      await lanes.record(lane, [], signFor(lane))
      expect(await noncesOf(lane)).toEqual([5])
    })

    it('list from a number on, in order, no more than asked for, with all that sending again needs', async () => {
      for (let transactions = 0; transactions < 6; transactions += 1) await recordIn(lane)
      const listed = await lanes.listFrom(lane, 9, 100)
      expect(listed).toEqual(
        [9, 10].map((nonce) => ({
          transaction: `${lane.network}/${lane.signer}/${nonce}`,
          bytes: `bytes ${nonce}`,
          nonce,
          recordedAt: expect.any(Date),
          replaced: [],
        })),
      )
      expect((await lanes.listFrom(lane, 0, 2)).map(({ nonce }) => nonce)).toEqual([5, 6])
      expect(await lanes.listFrom(lane, 11, 100)).toEqual([])
    })

    it('move forward to what the chain has used, and never backward', async () => {
      await lanes.advance(lane, 10)
      await lanes.advance(lane, 3)
      await recordIn(lane)
      expect(await noncesOf(lane)).toEqual([10])
      expect(await lanes.readNext(otherSigner)).toBe(5)
    })

    it('know nothing of a lane that was never made known, and record nothing in it', async () => {
      const unknown = { ...lane, signer: randomUUID() }
      expect(await lanes.readNext(unknown)).toBe(0)
      const { recorder } = await harness.openRecorder(lane.network)
      await expect(lanes.record(unknown, [recorder], signFor(unknown))).rejects.toThrow('is not open')
      expect(await noncesOf(unknown)).toEqual([])
    })
  })
}

/** A recorder that keeps what it is told of. */
export const keepNoted = (
  recorder: Recorder,
): { readonly recorder: Recorder; readonly noted: readonly string[] } => {
  const noted: string[] = []
  return {
    recorder: {
      settlementId: recorder.settlementId,
      record: async (signed, write) => {
        await recorder.record(signed, write)
        noted.push(signed.transaction)
      },
    },
    noted,
  }
}
