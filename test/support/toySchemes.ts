import { z } from 'zod'
import { sleep, withSignal } from '../../src/concurrency/deadline.js'
import type { BlockReference } from '../../src/ports/settlementJournal.js'
import { readUint256 } from '../../src/protocol/amount.js'
import type { Payment } from '../../src/protocol/payment.js'
import type { BlockStatus, Network } from '../../src/schemes/network.js'
import type { Outcome, Refusal, Scheme } from '../../src/schemes/scheme.js'
import { waitLimitMs } from './pollUntil.js'
import { type ToyChain, type ToyTransfer, writeOrder } from './toyChain.js'
import { createToyNetwork } from './toyScheme.js'

const network = 'toy:1'
const pollMs = 5

const refuse = (payer: string | null, reason: Refusal['reason']): Refusal => ({
  isValid: false,
  payer,
  reason,
})

const refuseUnlessAwaited = (isAwaited: () => boolean): void => {
  if (!isAwaited()) throw new Error('The caller is gone')
}

const getToyBlockStatus = async (
  chain: ToyChain,
  { number, hash }: BlockReference,
  signal: AbortSignal,
): Promise<BlockStatus> => {
  if (number > (await chain.getHead(signal))) return 'unknown'
  return hash === `hash-${number}` ? 'canonical' : 'orphaned'
}

const createGetBlockStatus =
  (chain: ToyChain): Network['getBlockStatus'] =>
  (block, signal) =>
    withSignal(getToyBlockStatus(chain, block, signal), signal)

const confirm = ({ transaction, amount, block }: ToyTransfer): Outcome => ({
  state: 'confirmed',
  transaction,
  settledAmount: amount,
  block,
})

const uptoProof = z.object({
  from: z.string().regex(/^payer-[0-9a-f]{32}$/i),
  nonce: z.string().regex(/^[0-9a-f]{32}$/i),
})
const uptoDetails = z.object({ authorization: z.string() })

/** `upto` on the toy chain: settles the requested part of the authorized amount, nothing for 0. */
export const createToyUpto = (chain: ToyChain): Scheme => {
  const identify = ({ proof }: Payment): string | null => {
    const { data } = uptoProof.safeParse(proof)
    return data === undefined ? null : `${network}/${data.from}/${data.nonce}`.toLowerCase()
  }
  const waitFor = async (transaction: string, signal: AbortSignal): Promise<ToyTransfer | null> => {
    do {
      const found = await chain.find(transaction, signal).catch(() => null)
      if (found !== null) return found
    } while (await sleep(pollMs, signal))
    return null
  }

  return {
    kind: { scheme: 'upto', network },
    network: createToyNetwork({ getBlockStatus: createGetBlockStatus(chain) }),
    journalClaims: null,
    settledState: null,
    describeKind: () => ({ extra: undefined, extensions: [] }),
    describeAsset: async (asset) => ({ asset: asset ?? 'gold', decimals: 6, extra: {} }),
    identify,

    verify: async (payment, { isAwaited }) => {
      const authorization = identify(payment)
      const { data } = uptoProof.safeParse(payment.proof)
      if (authorization === null || data === undefined) return refuse(null, 'invalid_payload_structure')
      const payer = data.from.toLowerCase()
      const { amount: authorizedAmount, payTo, minAmount } = payment.requirements
      const amount = payment.settleAmount ?? authorizedAmount
      if (amount > authorizedAmount || amount < (minAmount ?? 0n)) {
        return refuse(payer, 'invalid_exact_evm_payload_authorization_value')
      }
      refuseUnlessAwaited(isAwaited)
      if (await chain.isUsed(authorization, AbortSignal.timeout(waitLimitMs))) {
        return refuse(payer, 'invalid_exact_evm_nonce_already_used')
      }
      return {
        isValid: true,
        payer,
        authorizationId: authorization,
        authorizedAmount,
        amount,
        expiresAt: null,
        details: { authorization },
        settle: async (recorder, { waitUntil }) => {
          if (amount === 0n) return { state: 'confirmed', transaction: '', settledAmount: 0n }
          const order = { authorization, from: payer, to: payTo, amount: amount.toString() }
          const signed = writeOrder(order)
          await recorder.record(signed)
          void chain.send(signed.bytes, waitUntil).catch(() => undefined)
          const found = await waitFor(signed.transaction, waitUntil)
          return found === null ? { state: 'pending', transaction: signed.transaction } : confirm(found)
        },
      }
    },

    resolve: async ({ details, broadcasts }, signal, { isReadOnly = false } = {}) => {
      const newest = broadcasts.at(-1)
      if (newest === undefined) throw new Error('The settlement has no recorded transaction')
      const { transaction, bytes } = newest
      const found = await chain.find(transaction, signal)
      if (found !== null) return confirm(found)
      if (await chain.isUsed(uptoDetails.parse(details).authorization, signal)) {
        return { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used', transaction }
      }
      if (!isReadOnly) await chain.send(bytes, signal)
      return { state: 'pending', transaction }
    },
  }
}

const directProof = z.object({
  txHash: z.string().regex(/^[0-9a-f]{64}$/i),
  from: z.string().regex(/^payer-[0-9a-f]{32}$/),
  to: z.string(),
  amount: z.string(),
})
const directDetails = z.object({ transaction: z.string() })

/** `exact-direct` on the toy chain: already sent by the payer; settling claims the proof. */
export const createToyDirect = (chain: ToyChain): Scheme => {
  const readProof = ({ proof }: Payment) => {
    const { data } = directProof.safeParse(proof)
    return data === undefined ? null : { ...data, transaction: data.txHash.toLowerCase() }
  }

  return {
    kind: { scheme: 'exact-direct', network },
    network: createToyNetwork({ signers: [], getBlockStatus: createGetBlockStatus(chain) }),
    journalClaims: null,
    settledState: null,
    describeKind: () => ({ extra: undefined, extensions: [] }),
    describeAsset: async (asset) => ({ asset: asset ?? 'gold', decimals: 6, extra: {} }),
    identify: (payment) => {
      const proof = readProof(payment)
      return proof === null ? null : `${network}/${proof.transaction}/0`
    },

    verify: async (payment, { isAwaited }) => {
      const proof = readProof(payment)
      if (proof === null) return refuse(null, 'invalid_payload_structure')
      const { transaction, from, to } = proof
      const { payTo, amount: price } = payment.requirements
      if (to !== payTo) return refuse(from, 'recipient_mismatch')
      refuseUnlessAwaited(isAwaited)
      const found = await chain.find(transaction, AbortSignal.timeout(waitLimitMs))
      const isPaid = found?.from === from && found.to === payTo && found.amount >= price
      if (!isPaid || readUint256(proof.amount) !== found.amount) {
        return refuse(from, 'transaction_verification_failed')
      }
      return {
        isValid: true,
        payer: from,
        authorizationId: `${network}/${transaction}/0`,
        authorizedAmount: found.amount,
        amount: found.amount,
        expiresAt: null,
        details: { transaction },
        settle: async () => confirm(found),
      }
    },

    resolve: async ({ details }, signal) => {
      const { transaction } = directDetails.parse(details)
      const found = await chain.find(transaction, signal)
      return found === null ? { state: 'pending', transaction } : confirm(found)
    },
  }
}
