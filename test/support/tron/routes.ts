import { z } from 'zod'
import { energyLimitOf, energyOf, freeBandwidth, network, prices, type TronAccount } from './accounts.js'
import { type TronBlock, toJsonHeader } from './block.js'
import type { Executed } from './execution.js'
import { selectorOf, toHex, toHexAddress } from './keys.js'
import type { Ledger } from './ledger.js'
import { type DecodedTransaction, encodeJsonTransaction, toJsonTransaction } from './transaction.js'

/** `isSolid`: answers from solid blocks only. */
type Route = (body: Readonly<Record<string, unknown>>, isSolid: boolean) => unknown

const text = (body: Readonly<Record<string, unknown>>, name: string): string =>
  z.coerce.string().parse(body[name] ?? '')

const toJsonExecuted = ({ transaction, contractRet }: Executed) => ({
  ret: [{ contractRet }],
  ...toJsonTransaction(transaction),
})

const toJsonAccount = ({ address, balance, owner }: TronAccount) => ({
  address,
  ...(balance === 0 ? {} : { balance }),
  create_time: 0,
  account_resource: {},
  owner_permission: { permission_name: 'owner', threshold: owner.threshold, keys: owner.keys },
  active_permission: [
    { type: 'Active', id: 2, permission_name: 'active', threshold: 1, keys: [{ address, weight: 1 }] },
  ],
})

const toJsonResource = (account: TronAccount) => {
  const limit = energyLimitOf(account)
  return {
    freeNetLimit: freeBandwidth,
    ...(account.bandwidthUsed === 0 ? {} : { freeNetUsed: account.bandwidthUsed }),
    ...(limit === 0 ? {} : { EnergyLimit: limit }),
    ...(account.energyUsed === 0 ? {} : { EnergyUsed: account.energyUsed }),
    TotalEnergyLimit: network.energy,
    TotalEnergyWeight: network.staked,
  }
}

const constantEnergy = 50_000_000

export const createRoutes = (ledger: Ledger): Readonly<Record<string, Route>> => {
  const { machine } = ledger
  const toJsonBlock = (block: TronBlock, isFull: boolean) => {
    const transactions = block.transactions.flatMap(({ id }) => {
      const executed = ledger.findExecuted(id)
      return executed === null ? [] : [toJsonExecuted(executed)]
    })
    return { ...toJsonHeader(block), ...(isFull && transactions.length > 0 ? { transactions } : {}) }
  }
  const newest = (isSolid: boolean) => (isSolid ? ledger.solid() : ledger.head())
  const answerBlock = (wanted: unknown, isSolid: boolean, isFull: boolean) => {
    const known = z.union([z.string(), z.number()]).safeParse(wanted)
    const block = known.success ? ledger.findBlock(known.data) : newest(isSolid)
    return block === null || block.number > newest(isSolid).number ? {} : toJsonBlock(block, isFull)
  }
  const findAccount = (address: string) => ledger.accounts().get(toHexAddress(address)) ?? null
  const findExecuted = (id: string, isSolid: boolean) => {
    const executed = ledger.findExecuted(id.toLowerCase())
    return executed !== null && executed.block.number <= newest(isSolid).number ? executed : null
  }

  const callConstant: Route = async (body) => {
    const selector = text(body, 'function_selector')
    const data = text(body, 'data') || `${selectorOf(selector)}${text(body, 'parameter')}`
    const to = toHexAddress(text(body, 'contract_address'))
    if (!(await machine.hasCode(to))) {
      return {
        result: {
          code: 'CONTRACT_VALIDATE_ERROR',
          message: toHex(Buffer.from('Smart contract is not exist.')),
        },
      }
    }
    const result = await machine.call(
      {
        from: toHexAddress(text(body, 'owner_address')),
        to,
        data,
        energyLimit: constantEnergy,
        time: ledger.head().timestamp,
      },
      false,
    )
    const isFailed = result.outcome !== 'SUCCESS'
    return {
      // True even for a revert, like real nodes.
      result: {
        result: true,
        ...(isFailed ? { message: toHex(Buffer.from('REVERT opcode executed')) } : {}),
      },
      energy_used: result.energyUsed,
      constant_result: [result.returned],
      ...(isFailed ? {} : { logs: result.logs }),
      transaction: {
        ret: [isFailed ? { ret: 'FAILED' } : {}],
        visible: false,
        raw_data: {},
        raw_data_hex: '',
      },
    }
  }

  const submit = (hex: string, answer: (transaction: DecodedTransaction) => object) => {
    const { transaction, refusal } = ledger.submit(hex)
    if (refusal === null) return answer(transaction)
    return { code: refusal.code, txid: transaction.id, message: toHex(Buffer.from(refusal.message)) }
  }

  return {
    getnowblock: (_body, isSolid) => toJsonBlock(newest(isSolid), true),
    getblock: (body, isSolid) => answerBlock(body.id_or_num, isSolid, body.detail === true),
    getblockbynum: (body, isSolid) => answerBlock(body.num, isSolid, true),
    getaccount: (body) => {
      const account = findAccount(text(body, 'address'))
      return account === null ? {} : toJsonAccount(account)
    },
    getaccountresource: (body) => {
      const account = findAccount(text(body, 'address'))
      return account === null ? {} : toJsonResource(account)
    },
    getcandelegatedmaxsize: (body) => {
      const account = findAccount(text(body, 'owner_address'))
      return account === null ? {} : { max_size: account.staked }
    },
    getdelegatedresourceaccountindexv2: (body) => {
      const owner = toHexAddress(text(body, 'value'))
      const receivers = [...ledger.accounts().values()].filter(({ delegatedFrom }) =>
        delegatedFrom.has(owner),
      )
      return { account: owner, toAccounts: receivers.map(({ address }) => address) }
    },
    getdelegatedresourcev2: (body) => {
      const from = toHexAddress(text(body, 'fromAddress'))
      const to = toHexAddress(text(body, 'toAddress'))
      const delegated = ledger.accounts().get(to)?.delegatedFrom.get(from) ?? 0
      return delegated === 0
        ? {}
        : {
            delegatedResource: [
              { from, to, frozen_balance_for_energy: delegated, energy: energyOf(delegated) },
            ],
          }
    },
    getchainparameters: () => ({
      chainParameter: [
        { key: 'getEnergyFee', value: prices.energy },
        { key: 'getTransactionFee', value: prices.bandwidth },
        { key: 'getMaxFeeLimit', value: 15_000_000_000 },
      ],
    }),
    getcontract: async (body) => {
      const address = toHexAddress(text(body, 'value'))
      return (await machine.hasCode(address)) ? { contract_address: address, name: 'Token', abi: {} } : {}
    },
    triggerconstantcontract: callConstant,
    broadcasthex: (body) =>
      submit(text(body, 'transaction'), (transaction) => ({
        result: true,
        code: 'SUCCESS',
        message: '',
        txid: transaction.id,
        transaction: JSON.stringify(toJsonTransaction(transaction)),
      })),
    broadcasttransaction: (body) =>
      submit(encodeJsonTransaction(body), ({ id }) => ({ result: true, txid: id })),
    gettransactionbyid: (body, isSolid) => {
      const executed = findExecuted(text(body, 'value'), isSolid)
      return executed === null ? {} : toJsonExecuted(executed)
    },
    gettransactioninfobyid: (body, isSolid) => findExecuted(text(body, 'value'), isSolid)?.info ?? {},
  }
}
