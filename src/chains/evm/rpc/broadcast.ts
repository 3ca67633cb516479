import type { Hex } from 'viem'
import { z } from 'zod'
import { createFailureLog } from '../../../failureLog.js'
import type { Logger } from '../../../ports/logger.js'
import { RpcError, readRateLimit } from '../../nodes/endpoint.js'
import type { EndpointHealth, HealthTime } from '../../nodes/endpointHealth.js'
import { broadcastToAll, type EndpointPool } from '../../nodes/endpointPool.js'

export const createBroadcast = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): ((bytes: Hex) => Promise<SendAnswer>) => {
  const refusals = createFailureLog({
    logger,
    event: 'rpc.send_refused',
    recovered: null,
    now: time.monotonicMs,
  })

  const sendTo = async (health: EndpointHealth, bytes: Hex): Promise<SendAnswer> => {
    const startedAtMs = time.monotonicMs()
    try {
      // The hash was computed from the bytes; the node's answer is ignored.
      await health.endpoint.request('eth_sendRawTransaction', [bytes], z.unknown())
      return 'entered'
    } catch (error) {
      const isBusy = readRateLimit(error) !== null
      if (isBusy) health.onFailure(startedAtMs, error)
      const answer = readSendFailure(error)
      const kind = error instanceof RpcError ? error.code : 'silent'
      if (answer !== 'entered') {
        refusals.failed(`${health.name} ${answer} ${kind}`, { network, host: health.name, answer, error })
      }
      // A send without answer says little about the endpoint: probe it.
      if (!isBusy && !(error instanceof RpcError)) void health.probe()
      return answer
    }
  }

  // One node that accepted the bytes is enough; the others receive them in the background.
  return async (bytes) => {
    const answers = await broadcastToAll(
      pool,
      (health) => sendTo(health, bytes),
      (answer) => answer === 'entered',
    )
    return combineSendAnswers(answers)
  }
}

const readSendFailure = (error: unknown): SendAnswer => {
  // A rate limit refuses before the bytes are read.
  if (readRateLimit(error) !== null) return 'refused'
  return error instanceof RpcError ? readSendAnswer(error.message) : 'unknown'
}

/**
 * `entered`: accepted. `refused`: rejected. `nonce_used`: the nonce is used on chain, perhaps by these bytes.
 * `unknown`: it may have been accepted.
 */
export type SendAnswer = 'entered' | 'nonce_used' | 'refused' | 'unknown'

interface Reading {
  readonly answer: SendAnswer
  readonly messages: readonly RegExp[]
}

/*
 * Nodes report a refused send only in the message. The first match counts: earlier messages contain later
 * ones ("replacement transaction underpriced", "transaction underpriced"). geth's messages are also those of
 * op-geth, bor, erigon and of current reth, nethermind and anvil.
 */
const readings: readonly Reading[] = [
  {
    answer: 'entered',
    messages: [
      /already[ _]?(known|imported)|already in (the )?(mem)?(pool|system)|already exists? in (the )?(mem)?pool/i,
      /\bknown transaction/i,
      // erigon
      /existing tx with same hash/i,
    ],
  },
  {
    answer: 'nonce_used',
    messages: [
      /nonce (is )?too low|nonce provided .* lower|nonce has already been used|too stale nonce/i,
      // nethermind; nodes built on substrate; harmony
      /\bOldNonce\b|Pool\(Stale\)|transaction already (finalized|mined)/,
    ],
  },
  {
    // The pool is full: refused, although the message says "replace".
    answer: 'refused',
    messages: [/future transaction tries to replace pending/i],
  },
  {
    // The nonce is taken in the pool, perhaps by these bytes.
    answer: 'unknown',
    messages: [
      /replac/i,
      // openethereum; nethermind
      /another (transaction|tx) (with|which has the) same nonce|\bOwnNonceAlreadyUsed\b/i,
    ],
  },
  {
    // Nodes that answer only once a transaction is sequenced.
    answer: 'unknown',
    messages: [/timed? ?out|deadline exceeded|context canceled/i],
  },
  {
    answer: 'refused',
    messages: [
      // Pool full
      /pool (is )?(full|overflow)|pool full|queue (is )?full|queue limit|account limit exceeded|too many transactions/i,
      /pool size constraints|discarded on insert|identified as a spammer|in-flight transaction limit|already reserved/i,
      /gapped-nonce tx/i,
      // Price
      /underpriced|(fee|price|tip) (cap )?(is )?too low|FeeTooLow|fee cap (less than|below)|feecap .* below/i,
      /less than block base fee|below (configured minimum|current base fee|chain minimum)|less than gas price minimum/i,
      /exceeds the configured cap|fee cap exceeded|priority fee per gas (higher than|exceeds) max fee/i,
      // Gas
      /intrinsic gas|floor data gas|exceeds (the )?(block|max transaction) gas limit|gas limit too high/i,
      /\bGasLimitExceeded\b|gas limit (reached|exceeded)|cost exceeds current gas limit|gas uint64 overflow/i,
      // Funds
      /insufficient ?(funds|balance)|not enough funds|upfront cost exceeds account balance|cause overdraft/i,
      // Form
      /(tx|transaction) type not supported|not supported tx type|\bNotSupportedTxType\b|invalid transaction type/i,
      /invalid sender|invalid signature|\bFailedToResolveSender\b|sender (is|not an?) |\bSenderIsContract\b/i,
      /invalid chain id|wrong chainid|chainid (not supported|is required)|replay-protected/i,
      /oversized data|\bMaxTxSizeExceeded\b|too (big|large)|negative value|\bInt256Overflow\b|initcode size|\brlp\b/i,
      // Nonce too high, on nodes without a queue for future transactions
      /nonce too high|\bNonceGap\b|\bNonceTooFarInFuture\b|too distant from current sender nonce/i,
      /invalid transaction with a lower nonce exists/i,
      // Endpoint does not accept transactions
      /rate.?limit|too many requests|request (limit|rate|count)|compute units|throttl/i,
      /pool not enabled|sync is still in progress|is syncing|not authorized|unauthori[sz]ed|must be authenticated/i,
      /forbidden sender|method (not found|.* (not (available|supported|found)|does not exist))/i,
    ],
  },
]

/** Reads a node's error to a send; an unknown message proves nothing. */
export const readSendAnswer = (message: string): SendAnswer =>
  readings.find(({ messages }) => messages.some((known) => known.test(message)))?.answer ?? 'unknown'

// `unknown` outweighs `refused`: another node may have propagated the transaction.
const weights = ['entered', 'unknown', 'nonce_used', 'refused'] as const

/** Combines several nodes' answers; without any, nothing was sent. */
export const combineSendAnswers = (answers: readonly SendAnswer[]): SendAnswer =>
  weights.find((answer) => answers.includes(answer)) ?? 'refused'
