import { Address, beginCell, Cell, loadMessage, type Message, storeMessage } from '@ton/core'
import { GetMethodError } from '@ton/sandbox'
import { z } from 'zod'
import { type Ledger, type LoggedTransaction, NotAccepted } from './ledger.js'
import { readStackEntry, stackEntries, writeStackEntry } from './stackItems.js'

export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const address = z.string().transform((text, context) => {
  try {
    return Address.parse(text)
  } catch {
    context.addIssue({ code: 'custom', message: 'Incorrect address' })
    return z.NEVER
  }
})
const logicalTime = z.coerce.bigint()

const onAccount = z.object({ address })
const getMethodCall = z.object({
  address,
  method: z.union([z.string(), z.number()]),
  stack: stackEntries.default([]),
})
const transactionQuery = z.object({
  address,
  limit: z.coerce.number().default(10),
  lt: logicalTime.optional(),
  to_lt: logicalTime.default(0n),
})
const hopQuery = z.object({ source: address, destination: address, created_lt: logicalTime })
const sending = z.object({ boc: z.string() })

/** toncenter API v2; throws `ApiError`. */
export type ToncenterApi = (method: string, params: unknown) => Promise<unknown>

export const createToncenterApi = (ledger: Ledger, zeroState: string): ToncenterApi => {
  const startedAt = Date.now()
  /** Masterchain height advances with the clock and with each transaction. */
  const height = () => 40_000_000 + Math.floor((Date.now() - startedAt) / 1_000) + ledger.listAll().length
  const block = (workchain: number, seqno = height()) => ({
    '@type': 'ton.blockIdExt',
    workchain,
    shard: '-9223372036854775808',
    seqno,
    root_hash: hashOf(seqno),
    file_hash: hashOf(seqno),
  })

  const readAccount = async (owner: Address) => {
    const contract = await ledger.chain.getContract(owner)
    const state = contract.accountState
    const newest = ledger.list(owner)[0]
    const active = state?.type === 'active' ? state.state : null
    return {
      '@type': 'raw.fullAccountState',
      balance: contract.balance.toString(),
      code: active?.code?.toBoc().toString('base64') ?? '',
      data: active?.data?.toBoc().toString('base64') ?? '',
      last_transaction_id: {
        '@type': 'internal.transactionId',
        lt: newest?.transaction.lt.toString() ?? '0',
        hash: newest?.hash ?? Buffer.alloc(32).toString('base64'),
      },
      block_id: block(-1),
      frozen_hash: '',
      sync_utime: ledger.now(),
      state: active !== null ? 'active' : state?.type === 'frozen' ? 'frozen' : 'uninitialized',
    }
  }

  const runGetMethod = async (params: unknown) => {
    const { address: owner, method, stack } = getMethodCall.parse(params)
    const answer = { '@type': 'smc.runResult', gas_used: 0, stack: [], exit_code: -13, block_id: block(-1) }
    if ((await readAccount(owner)).state !== 'active') return answer
    try {
      const result = await ledger.chain.runGetMethod(owner, method, stack.map(readStackEntry), {
        now: ledger.now(),
      })
      return { ...answer, exit_code: result.exitCode, stack: result.stack.map(writeStackEntry) }
    } catch (error) {
      if (error instanceof GetMethodError) return { ...answer, exit_code: error.exitCode }
      throw error
    }
  }

  const sendBoc = async (boc: string) => {
    let message: Message
    try {
      message = loadMessage(Cell.fromBase64(boc).beginParse())
    } catch {
      throw new ApiError(422, 'Failed to parse the bag of cells')
    }
    try {
      await ledger.accept(message)
    } catch (error) {
      if (!(error instanceof NotAccepted)) throw error
      throw new ApiError(500, `LITE_SERVER_UNKNOWN: cannot apply external message: ${error.message}`)
    }
    return { '@type': 'ok' }
  }

  const listTransactions = (params: unknown) => {
    const { address: owner, limit, lt, to_lt } = transactionQuery.parse(params)
    return ledger
      .list(owner)
      .filter(({ transaction }) => (lt === undefined || transaction.lt <= lt) && transaction.lt > to_lt)
      .slice(0, limit)
      .map(describeTransaction)
  }

  const locateResult = (params: unknown) => {
    const { source, destination, created_lt } = hopQuery.parse(params)
    const found = ledger.list(destination).find(({ transaction: { inMessage } }) => {
      if (inMessage?.info.type !== 'internal') return false
      return inMessage.info.src.equals(source) && inMessage.info.createdLt === created_lt
    })
    if (found === undefined) throw new ApiError(404, 'message not found')
    return describeTransaction(found)
  }

  const call: ToncenterApi = async (method, params) => {
    switch (method) {
      case 'getMasterchainInfo':
        return {
          '@type': 'blocks.masterchainInfo',
          last: block(-1),
          state_root_hash: hashOf(height()),
          init: { ...block(-1, 0), root_hash: zeroState, file_hash: zeroState },
        }
      case 'getAddressInformation':
        return await ledger.runExclusively(() => readAccount(onAccount.parse(params).address))
      case 'runGetMethod':
        return await ledger.runExclusively(() => runGetMethod(params))
      case 'sendBoc':
        return await sendBoc(sending.parse(params).boc)
      case 'getTransactions':
        return await ledger.runExclusively(async () => listTransactions(params))
      case 'tryLocateResultTx':
        return await ledger.runExclusively(async () => locateResult(params))
      default:
        throw new ApiError(404, `method ${method} not found`)
    }
  }
  return async (method, params) => {
    try {
      return await call(method, params)
    } catch (error) {
      if (error instanceof z.ZodError) throw new ApiError(422, error.message)
      throw error
    }
  }
}

const hashOf = (number: number): string =>
  beginCell().storeUint(number, 64).endCell().hash().toString('base64')

const describeMessage = (message: Message) => {
  const { info, body } = message
  const internal = info.type === 'internal' ? info : null
  return {
    '@type': 'raw.message',
    source: internal?.src.toString() ?? '',
    destination: info.dest?.toString() ?? '',
    value: internal?.value.coins.toString() ?? '0',
    fwd_fee: internal?.forwardFee.toString() ?? '0',
    ihr_fee: '0',
    created_lt: internal?.createdLt.toString() ?? '0',
    body_hash: body.hash().toString('base64'),
    hash: beginCell().store(storeMessage(message)).endCell().hash().toString('base64'),
    msg_data: { '@type': 'msg.dataRaw', body: body.toBoc().toString('base64'), init_state: '' },
    message: '',
  }
}

const describeTransaction = ({ transaction, hash, data }: LoggedTransaction) => ({
  '@type': 'raw.transaction',
  address: {
    '@type': 'accountAddress',
    account_address: `0:${transaction.address.toString(16).padStart(64, '0')}`,
  },
  utime: transaction.now,
  data,
  transaction_id: { '@type': 'internal.transactionId', lt: transaction.lt.toString(), hash },
  fee: transaction.totalFees.coins.toString(),
  storage_fee: '0',
  other_fee: transaction.totalFees.coins.toString(),
  ...(transaction.inMessage == null ? {} : { in_msg: describeMessage(transaction.inMessage) }),
  out_msgs: transaction.outMessages.values().map(describeMessage),
})
