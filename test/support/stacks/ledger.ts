import {
  type AddressHashMode,
  AuthType,
  addressFromVersionHash,
  addressHashModeToVersion,
  addressToString,
  Cl,
  type ClarityValue,
  cvToString,
  deserializeTransaction,
  PayloadType,
  PostConditionMode,
  type StacksTransactionWire,
  wireToPostCondition,
} from '@stacks/transactions'
import { openSimnet } from './simnet.js'

type Payload = StacksTransactionWire['payload']
type Status = 'success' | 'abort_by_response' | 'abort_by_post_condition'
type SimnetEvent = { readonly event: string; readonly data: Record<string, unknown> }

interface Pending {
  readonly id: string
  readonly transaction: StacksTransactionWire
  readonly sender: string
  readonly sponsor: string | null
}

export interface Mined extends Pending {
  readonly status: Status
  readonly events: readonly SimnetEvent[]
  readonly result: ClarityValue
  readonly height: number
  readonly burnHeight: number
  /** Unix seconds. */
  readonly time: number
  isCanonical: boolean
  /** As microblocks did before Nakamoto. */
  isAnchored: boolean
}

/** A refusal of the node, with its reason code. */
export class Rejected extends Error {
  constructor(
    readonly reason: string,
    readonly id: string,
  ) {
    super(reason)
  }
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>

const firstBurnHeight = 900_000
const miner = 'ST1SJ3DTE5DN7X54YDH5D64R3BCB6A2AG2ZQ8YPD5'
const startFunds = 10n ** 12n

export const openLedger = async (now: () => number) => {
  const simnet = await openSimnet()
  const mempool: Pending[] = []
  const mined = new Map<string, Mined>()
  const dropped = new Map<string, string>()
  const nonces = new Map<string, bigint>()
  let burnHeight = firstBurnHeight
  // The simnet counts a block for each call.
  let height = 1

  const nextNonce = (address: string): bigint =>
    (nonces.get(address) ?? 0n) + BigInt(mempool.filter(({ sender }) => sender === address).length)

  const submit = (hex: string): string => {
    const transaction = deserializeTransaction(hex)
    const id = `0x${transaction.txid()}`
    if (mempool.some((pending) => pending.id === id)) return id
    const { auth } = transaction
    const sender = addressOf(auth.spendingCondition)
    const sponsor = auth.authType === AuthType.Sponsored ? addressOf(auth.sponsorSpendingCondition) : null
    try {
      transaction.verifyOrigin()
    } catch {
      throw new Rejected('SignatureValidation', id)
    }
    if (BigInt(auth.spendingCondition.nonce) !== nextNonce(sender)) throw new Rejected('BadNonce', id)
    mempool.push({ id, transaction, sender, sponsor })
    return id
  }

  const run = (payload: Payload, pending: Pending) => {
    switch (payload.payloadType) {
      case PayloadType.ContractCall: {
        const contract = `${addressToString(payload.contractAddress)}.${payload.contractName.content}`
        const { result, events } = simnet.callPublicFn(
          contract,
          payload.functionName.content,
          payload.functionArgs,
          pending.sender,
        )
        return { result, events: readEvents(events) }
      }
      case PayloadType.VersionedSmartContract: {
        const { contractName, codeBody } = payload
        const { result, events } = simnet.deployContract(
          contractName.content,
          codeBody.content,
          { clarityVersion: 3 },
          pending.sender,
        )
        return { result, events: readEvents(events) }
      }
      default:
        throw new Error('The chain executes contracts only')
    }
  }

  const execute = (pending: Pending): Pick<Mined, 'status' | 'result' | 'events'> => {
    const { payload } = pending.transaction
    if (violatesPostConditions(pending)) {
      return { status: 'abort_by_post_condition', result: Cl.ok(Cl.bool(true)), events: [] }
    }
    const { result, events } = run(payload, pending)
    const status = result.type === 'err' ? 'abort_by_response' : 'success'
    return { status, result, events: status === 'success' ? events : [] }
  }

  const mine = (): void => {
    simnet.mineEmptyBlock()
    height += 1
    for (const pending of mempool.splice(0)) {
      nonces.set(pending.sender, BigInt(pending.transaction.auth.spendingCondition.nonce) + 1n)
      const place = { height, burnHeight, time: Math.floor(now() / 1_000) }
      const flags = { isCanonical: true, isAnchored: true }
      mined.set(pending.id, { ...pending, ...execute(pending), ...place, ...flags })
    }
  }

  return {
    simnet,
    submit,
    mine,
    mineBurnBlock: () => {
      burnHeight += 1
      mine()
    },
    height: () => height,
    burnHeight: () => burnHeight,
    nextNonce,
    findPending: (id: string) => mempool.find((pending) => pending.id === id) ?? null,
    findMined: (id: string) => mined.get(id) ?? null,
    findDropped: (id: string) => dropped.get(id) ?? null,
    /** Removes it from the mempool. */
    drop: (id: string, status: string) => {
      const place = mempool.findIndex((pending) => pending.id === id)
      if (place !== -1) mempool.splice(place, 1)
      dropped.set(id, status)
    },
    fund: (address: string) => simnet.mintSTX(address, startFunds),
    miner,
  }
}

const readEvents = (events: readonly unknown[]): readonly SimnetEvent[] =>
  events.filter(
    (event): event is SimnetEvent =>
      typeof event === 'object' && event !== null && 'event' in event && 'data' in event,
  )

const addressOf = ({
  hashMode,
  signer,
}: {
  readonly hashMode: AddressHashMode
  readonly signer: string
}): string => addressToString(addressFromVersionHash(addressHashModeToVersion(hashMode, 'testnet'), signer))

/** The simnet cannot undo a call, so the conditions of a SIP-010 transfer are judged before it. */
const violatesPostConditions = ({ transaction }: Pending): boolean => {
  const { payload, postConditions, postConditionMode } = transaction
  if (payload.payloadType !== PayloadType.ContractCall) return false
  const [amount, sender] = payload.functionArgs
  if (payload.functionName.content !== 'transfer' || amount?.type !== 'uint' || sender === undefined) {
    if (postConditionMode === PostConditionMode.Deny) {
      throw new Error('Only transfers can deny what their post-conditions do not name')
    }
    return false
  }
  const own = postConditions.values
    .map((condition) => wireToPostCondition(condition))
    .filter((condition) => condition.type === 'ft-postcondition' && condition.address === cvToString(sender))
  if (own.length === 0) return postConditionMode === PostConditionMode.Deny
  return own.some(
    (condition) =>
      condition.type === 'ft-postcondition' &&
      condition.condition === 'eq' &&
      BigInt(condition.amount) !== BigInt(amount.value),
  )
}
