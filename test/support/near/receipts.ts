import { ed25519 } from '@noble/curves/ed25519'
import { type DelegateAction, decodeTyped, type NearAction } from './borsh.js'
import type { Execution, PromiseCall } from './contracts.js'
import type { NearAccount } from './ledger.js'

export interface Receipt {
  readonly id: string
  /** `system` for refunds of gas. */
  readonly predecessor: string
  readonly receiver: string
  readonly actions: readonly NearAction[]
  readonly signer: string
  readonly delegateDigests: readonly Uint8Array[]
  /** Executed with this receipt's result. */
  readonly callback?: Receipt
  /** Only in callbacks; null if the promise failed. */
  readonly promiseResult?: string | null
}

export type Status =
  | { readonly SuccessValue: string }
  | { readonly SuccessReceiptId: string }
  | { readonly Failure: object }

export interface Outcome {
  readonly id: string
  readonly blockHash: string
  readonly executor: string
  readonly logs: readonly string[]
  readonly receiptIds: readonly string[]
  readonly status: Status
}

interface World {
  readonly accounts: ReadonlyMap<string, NearAccount>
  readonly height: number
  readonly nextReceiptId: () => string
}

interface ActionResult {
  /** Null: the action succeeded. */
  readonly failure: unknown
  readonly logs: readonly string[]
  readonly created: readonly Receipt[]
  readonly value: string
  /** Receipt whose result is this one's. */
  readonly resultOf: string | null
}

const done: ActionResult = { failure: null, logs: [], created: [], value: '', resultOf: null }
const fail = (failure: unknown, logs: readonly string[] = []): ActionResult => ({ ...done, failure, logs })

/**
 * All actions or none; the logs of actions before a failed one remain, as in nearcore. Every receipt but a refund creates
 * one that refunds gas.
 */
export const executeReceipt = (receipt: Receipt, world: World) => {
  const restore = world.accounts.get(receipt.receiver)?.contract?.snapshot() ?? (() => {})
  const isRefund = receipt.predecessor === 'system'
  const logs: string[] = []
  let created: Receipt[] = []
  let status: Status = { SuccessValue: '' }
  let value: string | null = ''
  for (const [index, action] of receipt.actions.entries()) {
    const result = executeAction(action, receipt, world)
    logs.push(...result.logs)
    if (result.failure !== null) {
      restore()
      created = []
      value = null
      status = { Failure: { ActionError: { index, kind: result.failure } } }
      break
    }
    created.push(...result.created)
    value = result.value
    status =
      result.resultOf === null
        ? { SuccessValue: Buffer.from(result.value).toString('base64') }
        : { SuccessReceiptId: result.resultOf }
  }
  if (receipt.callback !== undefined) created.push({ ...receipt.callback, promiseResult: value })
  if (!isRefund) {
    const refund = { Transfer: { deposit: '1' } }
    const { signer } = receipt
    created.push({
      id: world.nextReceiptId(),
      predecessor: 'system',
      receiver: signer,
      actions: [refund],
      signer,
      delegateDigests: [],
    })
  }
  const receiptIds = created.map(({ id }) => id)
  return {
    outcome: { id: receipt.id, executor: receipt.receiver, logs, receiptIds, status },
    created,
  }
}

const executeAction = (action: NearAction, receipt: Receipt, world: World): ActionResult => {
  if ('Transfer' in action) return done
  if ('Delegate' in action) {
    const { delegate_action, signature } = action.Delegate
    return executeDelegate(delegate_action, decodeTyped(signature), receipt, world)
  }
  const { method_name, args, deposit } = action.FunctionCall
  const contract = world.accounts.get(receipt.receiver)?.contract ?? null
  if (contract === null) {
    return fail({ FunctionCallError: { CompilationError: { CodeDoesNotExist: receipt.receiver } } })
  }
  const execution = contract.call(method_name, parseArgs(args), {
    predecessor: receipt.predecessor,
    deposit: BigInt(deposit),
    promiseResult: receipt.promiseResult ?? null,
  })
  if (execution === null) return fail({ FunctionCallError: { MethodResolveError: 'MethodNotFound' } })
  if (!execution.isSuccessful) {
    return fail({ FunctionCallError: { ExecutionError: execution.error } }, execution.logs)
  }
  return createPromises(execution, receipt, world)
}

/** The delegate's signature and nonce are checked by the account that it names: the receiver. */
const executeDelegate = (
  action: DelegateAction,
  signature: Uint8Array,
  { receiver, signer, delegateDigests }: Receipt,
  { accounts, height, nextReceiptId }: World,
): ActionResult => {
  const { sender_id, receiver_id, public_key, nonce, max_block_height, actions } = action
  const [digest] = delegateDigests
  const key = accounts.get(sender_id)?.keys.get(public_key)
  if (sender_id !== receiver) return fail('DelegateActionSenderDoesNotMatchTxReceiver')
  if (digest === undefined || !ed25519.verify(signature, digest, decodeTyped(public_key))) {
    return fail('DelegateActionInvalidSignature')
  }
  if (max_block_height < height) return fail('DelegateActionExpired')
  if (key === undefined || BigInt(nonce) <= key.nonce) return fail('DelegateActionInvalidNonce')
  key.nonce = BigInt(nonce)
  const id = nextReceiptId()
  const created = { id, predecessor: sender_id, receiver: receiver_id, actions, signer, delegateDigests: [] }
  return { ...done, created: [created], resultOf: id }
}

const createPromises = (
  { value, logs, promises }: Extract<Execution, { isSuccessful: true }>,
  { receiver, signer }: Receipt,
  { nextReceiptId }: World,
): ActionResult => {
  let resultOf: string | null = null
  const call = (
    to: string,
    { method, args, deposit = 0n }: Pick<PromiseCall, 'method' | 'args' | 'deposit'>,
  ) => ({
    id: nextReceiptId(),
    predecessor: receiver,
    receiver: to,
    actions: [
      {
        FunctionCall: {
          method_name: method,
          args: Buffer.from(JSON.stringify(args)).toString('base64'),
          gas: 5_000_000_000_000,
          deposit: `${deposit}`,
        },
      },
    ],
    signer,
    delegateDigests: [],
  })
  const created = promises.map((promise): Receipt => {
    const main = call(promise.receiver, promise)
    if (promise.callback === undefined) {
      if (promise.isReturned === true) resultOf = main.id
      return main
    }
    const callback = call(receiver, promise.callback)
    resultOf = callback.id
    return { ...main, callback }
  })
  return { failure: null, logs, created, value, resultOf }
}

const parseArgs = (base64: string): Readonly<Record<string, unknown>> => {
  try {
    const args: unknown = JSON.parse(Buffer.from(base64, 'base64').toString('utf8') || '{}')
    return typeof args === 'object' && args !== null ? { ...args } : {}
  } catch {
    return {}
  }
}
