import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Lane, Recorder, SignedTransaction } from '../../src/ports/settlementJournal.js'
import type { SignerLanes } from '../../src/ports/signerLanes.js'

interface LanesHarness {
  readonly lanes: SignerLanes
  /** A recorder of a new settlement, with the transactions that were passed to it. */
  openRecorder(network: string): Promise<{ readonly recorder: Recorder; readonly noted: readonly string[] }>
  close(): Promise<void>
}

const lane: Lane = { network: 'eip155:84532', signer: '0x1111111111111111111111111111111111111111' }
const otherSigner: Lane = { ...lane, signer: '0x2222222222222222222222222222222222222222' }
const otherNetwork: Lane = { ...lane, network: 'eip155:8453' }

/** Signs one transaction per nonce. */
export const signFor =
  ({ network, signer }: Lane) =>
  async (nonce: number): Promise<SignedTransaction> => ({
    transaction: `${network}/${signer}/${nonce}`,
    bytes: `bytes ${nonce}`,
  })

/** Leases, and what takes two instances, are tested with the implementations that share lanes. */
export const describeLaneNumbering = (name: string, open: () => Promise<LanesHarness>): void => {
  describe(name, () => {
    let harness: LanesHarness
    let lanes: SignerLanes
    beforeEach(async () => {
      harness = await open()
      lanes = harness.lanes
      for (const target of [lane, otherSigner, otherNetwork]) await lanes.advance(target, 5)
    })
    afterEach(() => harness.close())

    const recordIn = async (target: Lane): Promise<void> => {
      const { recorder } = await harness.openRecorder(target.network)
      await lanes.record(target, [recorder], signFor(target))
    }
    const noncesOf = async (target: Lane) => (await lanes.listFrom(target, 0, 100)).map(({ nonce }) => nonce)

    it('allocate nonces per lane without gaps, also for 20 concurrent recordings', async () => {
      const many = Array.from({ length: 20 }, (_, index) => recordIn(index % 2 === 0 ? lane : otherSigner))
      await Promise.all([...many, recordIn(otherNetwork)])
      expect(await noncesOf(lane)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
      expect(await noncesOf(otherSigner)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
      expect(await noncesOf(otherNetwork)).toEqual([5])
      expect(await lanes.readNext(lane)).toBe(15)
    })

    it('reuse a nonce if signing failed', async () => {
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

    it('pass the transaction to the recorder of every settlement it carries, and return it', async () => {
      const opened = [await harness.openRecorder(lane.network), await harness.openRecorder(lane.network)]
      const recorders = opened.map(({ recorder }) => recorder)
      const answer = await lanes.record(lane, recorders, signFor(lane))
      const transaction = `${lane.network}/${lane.signer}/5`
      expect(answer).toEqual({ recorded: { transaction, bytes: 'bytes 5' } })
      expect(opened.map(({ noted }) => noted)).toEqual([[transaction], [transaction]])
    })

    it('record a gap-filling transaction without settlements', async () => {
      await lanes.record(lane, [], signFor(lane))
      expect(await noncesOf(lane)).toEqual([5])
    })

    it('list from a nonce on, ascending, up to the limit, with everything that rebroadcasting needs', async () => {
      // More than one digit: the order is numeric, not alphabetical.
      for (let transactions = 0; transactions < 6; transactions += 1) await recordIn(lane)
      await recordIn(otherSigner)
      const listed = await lanes.listFrom(lane, 9, 100)
      expect(listed).toEqual(
        [9, 10].map((nonce) => ({
          transaction: `${lane.network}/${lane.signer}/${nonce}`,
          bytes: `bytes ${nonce}`,
          nonce,
          recordedAt: expect.any(Date),
          replaced: [],
          urgentShares: [],
        })),
      )
      expect((await lanes.listFrom(lane, 0, 2)).map(({ nonce }) => nonce)).toEqual([5, 6])
      expect(await lanes.listFrom(lane, 11, 100)).toEqual([])
      expect(await lanes.listFrom({ ...lane, signer: randomUUID() }, 0, 100)).toEqual([])
    })

    it('advance to the nonce of the chain, and never go back', async () => {
      await lanes.advance(lane, 10)
      await lanes.advance(lane, 3)
      await recordIn(lane)
      expect(await noncesOf(lane)).toEqual([10])
      for (const nonce of [20, 20, 0]) await lanes.advance(lane, nonce)
      await recordIn(lane)
      expect(await noncesOf(lane)).toEqual([10, 20])
      expect(await lanes.readNext(otherSigner)).toBe(5)
    })

    it('have no nonce for an unknown lane, and record nothing in it', async () => {
      const unknown = { ...lane, signer: randomUUID() }
      expect(await lanes.readNext(unknown)).toBe(0)
      const { recorder } = await harness.openRecorder(lane.network)
      let hasSigned = false
      const recording = lanes.record(unknown, [recorder], async (nonce) => {
        hasSigned = true
        return await signFor(unknown)(nonce)
      })
      await expect(recording).rejects.toThrow('is not open')
      expect(hasSigned).toBe(false)
      expect(await noncesOf(unknown)).toEqual([])
    })
  })
}

/** Wraps a recorder and lists the transactions passed to it. */
export const observeRecorder = (
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
