import { base58 } from '@scure/base'
import { z } from 'zod'
import {
  type ExecutionLevel,
  executionLevels,
  type Ledger,
  type NearBlock,
  NearError,
  type Submitted,
} from './ledger.js'
import type { Outcome } from './receipts.js'

type Method = (params: unknown) => Promise<unknown>

const level = z.enum(executionLevels).default('EXECUTED_OPTIMISTIC')
const lookUp = z.object({ tx_hash: z.string(), sender_account_id: z.string(), wait_until: level })
const send = z.object({ signed_tx_base64: z.string(), wait_until: level })
const blockQuery = z.union([
  z.object({ finality: z.enum(['final', 'near-final', 'optimistic']) }),
  z.object({ block_id: z.union([z.string(), z.number()]) }),
])
const stateQuery = z.looseObject({
  request_type: z.string(),
  account_id: z.string(),
  public_key: z.string().default(''),
  method_name: z.string().default(''),
  args_base64: z.string().default(''),
})

const pauseMs = 2

export const createMethods = (
  ledger: Ledger,
  { chainId, pollingTimeoutMs }: { readonly chainId: string; readonly pollingTimeoutMs: number },
): Readonly<Record<string, Method>> => {
  const showBlock = ({ height, hash, time }: NearBlock) => ({
    author: 'validator.near',
    header: {
      height,
      hash,
      prev_hash: ledger.findBlock(height - 1)?.hash ?? '1'.repeat(32),
      // Above 2^53: a JSON parser rounds it.
      timestamp: time * 1_000_000,
      timestamp_nanosec: `${time}000000`,
      gas_price: '100000000',
      latest_protocol_version: 80,
      last_final_block: ledger.final().hash,
    },
    chunks: [],
  })

  const show = (entry: Submitted) => {
    const { transaction, conversion, outcomes } = entry
    const final_execution_status = ledger.levelOf(entry)
    // Without an outcome, nodes answer with the status alone.
    if (conversion === null) return { final_execution_status }
    return {
      final_execution_status,
      status: ledger.statusOf(entry),
      transaction: {
        signer_id: transaction.signer,
        public_key: transaction.publicKey,
        nonce: Number(transaction.nonce),
        receiver_id: transaction.receiver,
        actions: transaction.actions,
        priority_fee: 0,
        signature: `ed25519:${base58.encode(transaction.signature)}`,
        hash: transaction.hash,
      },
      transaction_outcome: showOutcome(conversion),
      receipts_outcome: outcomes.map(showOutcome),
    }
  }

  /** Its pauses are counted: while the process stands still, no block is made, and no time passes for a request. */
  const createPolling = () => {
    let pauses = 0
    return async (): Promise<void> => {
      if (pauses * pauseMs > pollingTimeoutMs) throw new NearError('TIMEOUT_ERROR', 'Timeout')
      pauses += 1
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  /** Waits until the transaction has reached the level, as nodes do. */
  const showAt = async (entry: Submitted, wanted: ExecutionLevel) => {
    const reached = () => executionLevels.indexOf(ledger.levelOf(entry)) >= executionLevels.indexOf(wanted)
    const pause = createPolling()
    while (!reached()) await pause()
    return show(entry)
  }

  const findTransaction: Method = async (params) => {
    const { tx_hash, wait_until } = lookUp.parse(params)
    const pause = createPolling()
    for (;;) {
      const entry = ledger.findSubmitted(tx_hash)
      if (entry !== null && entry.includedAt !== null) return await showAt(entry, wait_until)
      if (wait_until === 'NONE') {
        throw new NearError('UNKNOWN_TRANSACTION', `Transaction ${tx_hash} doesn't exist`)
      }
      await pause()
    }
  }

  const query: Method = async (params) => {
    const { request_type, account_id, public_key, method_name, args_base64 } = stateQuery.parse(params)
    const at = { block_hash: ledger.final().hash, block_height: ledger.final().height }
    const account = ledger.accounts.get(account_id)
    if (account === undefined) {
      throw new NearError('UNKNOWN_ACCOUNT', `account ${account_id} does not exist while viewing`)
    }
    switch (request_type) {
      case 'view_access_key': {
        const key = account.keys.get(public_key)
        // An error in a result: nodes keep it for old clients.
        if (key === undefined) {
          return { ...at, error: `access key ${public_key} does not exist while viewing`, logs: [] }
        }
        return { ...at, nonce: Number(key.nonce), permission: key.permission }
      }
      case 'view_account':
        return {
          ...at,
          amount: '1000000000000000000000000',
          locked: '0',
          code_hash: '1'.repeat(32),
          storage_usage: 182,
        }
      case 'call_function': {
        if (account.contract === null) {
          const code = `CompilationError(CodeDoesNotExist { account_id: "${account_id}" })`
          return { ...at, logs: [], error: `wasm execution failed with error: ${code}` }
        }
        const args: unknown = JSON.parse(Buffer.from(args_base64, 'base64').toString('utf8') || '{}')
        const view =
          account.contract?.view(method_name, typeof args === 'object' ? { ...args } : {}) ?? 'null'
        return { ...at, logs: [], result: [...Buffer.from(view)] }
      }
      default:
        throw new NearError('PARSE_ERROR', request_type, 'REQUEST_VALIDATION_ERROR')
    }
  }

  return {
    status: async () => ({
      chain_id: chainId,
      protocol_version: 80,
      latest_protocol_version: 80,
      sync_info: {
        latest_block_hash: ledger.head().hash,
        latest_block_height: ledger.head().height,
        latest_block_time: new Date(ledger.head().time).toISOString().replace('Z', '000000Z'),
        syncing: false,
      },
      validators: [],
      version: { build: 'test', version: '2.9.0' },
    }),
    block: async (params) => {
      const wanted = blockQuery.parse(params)
      if ('finality' in wanted) return showBlock(wanted.finality === 'final' ? ledger.final() : ledger.head())
      const block = ledger.findBlock(wanted.block_id)
      if (block === null)
        throw new NearError('UNKNOWN_BLOCK', `DB Not Found Error: BLOCK: ${wanted.block_id}`)
      return showBlock(block)
    },
    query,
    gas_price: async () => ({ gas_price: '100000000' }),
    send_tx: async (params) => {
      const { signed_tx_base64, wait_until } = send.parse(params)
      const entry = ledger.submit(signed_tx_base64)
      return wait_until === 'NONE' ? { final_execution_status: 'NONE' } : await showAt(entry, wait_until)
    },
    tx: findTransaction,
    EXPERIMENTAL_tx_status: findTransaction,
  }
}

const showOutcome = ({ id, blockHash, executor, logs, receiptIds, status }: Outcome) => ({
  proof: [],
  block_hash: blockHash,
  id,
  outcome: {
    logs,
    receipt_ids: receiptIds,
    gas_burnt: 1_395_997_613_018,
    tokens_burnt: '139599761301800000000',
    executor_id: executor,
    status,
    metadata: { version: 3, gas_profile: [] },
  },
})
