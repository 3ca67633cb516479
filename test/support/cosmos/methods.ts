import { sha256 } from '@noble/hashes/sha2'
import { z } from 'zod'
import { AbciError } from './bank.js'
import {
  type Block,
  type Executed,
  feeDenom,
  gasPerTransaction,
  type Ledger,
  minGasPrice,
  toUpperHex,
} from './ledger.js'
import { auntsOf, leafHash } from './merkle.js'
import { decode, encode } from './protobuf.js'

/** An `error` object of CometBFT. */
export class CometError extends Error {}

interface NodeState {
  isIndexing: boolean
  isCatchingUp: boolean
}

type Method = (params: unknown) => unknown

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const heightQuery = z.object({ height: z.coerce.number().optional() }).default({})
const transactionQuery = z.object({ hash: z.string(), prove: z.boolean().default(false) })
const searchQuery = z.object({ query: z.string() })
const broadcast = z.object({ tx: z.string() })
const abciQuery = z.object({ path: z.string(), data: z.string() })

// A header's other hashes.
const filler = 'AB'.repeat(32)

/** Nanoseconds, as Go writes them. */
const writeTime = (time: number): string => new Date(time).toISOString().replace('Z', '123456Z')

export const createMethods = (ledger: Ledger, state: NodeState): Readonly<Record<string, Method>> => {
  const idOf = (block: Block | null) => ({
    hash: block?.hash ?? '',
    parts: { total: block === null ? 0 : 1, hash: block?.hash ?? '' },
  })
  const showHeader = (block: Block) => ({
    version: { block: '11' },
    chain_id: ledger.chainId,
    height: `${block.height}`,
    time: writeTime(block.time),
    last_block_id: idOf(ledger.findBlock(block.height - 1)),
    last_commit_hash: filler,
    data_hash: block.dataHash,
    validators_hash: filler,
    next_validators_hash: filler,
    consensus_hash: filler,
    app_hash: filler,
    last_results_hash: filler,
    evidence_hash: filler,
    proposer_address: 'AB'.repeat(20),
  })
  const showCommit = (block: Block) => ({
    height: `${block.height}`,
    round: 0,
    block_id: idOf(block),
    signatures: [],
  })
  const blockAt = (params: unknown): Block => {
    const { height = ledger.head().height } = heightQuery.parse(params)
    const block = ledger.findBlock(height)
    if (block === null) {
      throw new CometError(
        `height ${height} must be less than or equal to the current blockchain height ${ledger.head().height}`,
      )
    }
    return block
  }

  const showTransaction = (each: Executed, isProven: boolean) => {
    const leaves = ledger.findBlock(each.height)?.transactions.map((bytes) => sha256(bytes)) ?? []
    const own = leaves[each.index] ?? sha256(each.bytes)
    const proof = {
      root_hash: ledger.findBlock(each.height)?.dataHash ?? '',
      data: toBase64(each.bytes),
      proof: {
        total: `${leaves.length}`,
        index: `${each.index}`,
        leaf_hash: toBase64(leafHash(own)),
        aunts: auntsOf(leaves, each.index).map(toBase64),
      },
    }
    return {
      hash: each.hash,
      height: `${each.height}`,
      index: each.index,
      tx_result: {
        code: each.code,
        data: each.data === '' ? null : each.data,
        log: each.log,
        info: '',
        gas_wanted: `${each.gasWanted}`,
        gas_used: `${each.gasUsed}`,
        events: each.events,
        codespace: each.codespace,
      },
      tx: toBase64(each.bytes),
      ...(isProven ? { proof } : {}),
    }
  }

  const requireIndex = () => {
    if (!state.isIndexing) throw new CometError('transaction indexing is disabled')
  }

  return {
    status: () => ({
      node_info: {
        protocol_version: { p2p: '8', block: '11', app: '0' },
        id: 'ab'.repeat(20),
        listen_addr: 'tcp://0.0.0.0:26656',
        network: ledger.chainId,
        version: '0.38.19',
        channels: '40202122233038606100',
        moniker: 'test',
        other: { tx_index: state.isIndexing ? 'on' : 'off', rpc_address: 'tcp://0.0.0.0:26657' },
      },
      sync_info: {
        latest_block_hash: ledger.head().hash,
        latest_app_hash: filler,
        latest_block_height: `${ledger.head().height}`,
        latest_block_time: writeTime(ledger.head().time),
        earliest_block_hash: filler,
        earliest_app_hash: filler,
        earliest_block_height: '1',
        earliest_block_time: writeTime(0),
        catching_up: state.isCatchingUp,
      },
      validator_info: {
        address: 'AB'.repeat(20),
        pub_key: { type: 'tendermint/PubKeyEd25519', value: toBase64(new Uint8Array(32).fill(7)) },
        voting_power: '0',
      },
    }),
    block: (params) => {
      const block = blockAt(params)
      return {
        block_id: idOf(block),
        block: {
          header: showHeader(block),
          data: { txs: block.transactions.map(toBase64) },
          evidence: { evidence: [] },
          last_commit: { height: `${block.height - 1}`, round: 0, block_id: idOf(null), signatures: [] },
        },
      }
    },
    commit: (params) => {
      const block = blockAt(params)
      return { signed_header: { header: showHeader(block), commit: showCommit(block) }, canonical: true }
    },
    tx: (params) => {
      requireIndex()
      const { hash, prove } = transactionQuery.parse(params)
      const name = toUpperHex(Buffer.from(hash, 'base64'))
      const found = ledger.findExecuted(name)
      if (found === null) throw new CometError(`tx (${name}) not found, err: tx not found`)
      return showTransaction(found, prove)
    },
    tx_search: (params) => {
      requireIndex()
      const [, hash = ''] = /^tx\.hash='([0-9A-Fa-f]{64})'$/.exec(searchQuery.parse(params).query) ?? []
      const found = ledger.findExecuted(hash.toUpperCase())
      return {
        txs: found === null ? [] : [showTransaction(found, false)],
        total_count: found === null ? '0' : '1',
      }
    },
    broadcast_tx_sync: (params) => {
      const bytes = Uint8Array.from(Buffer.from(broadcast.parse(params).tx, 'base64'))
      const hash = toUpperHex(sha256(bytes))
      try {
        ledger.submit(bytes)
        return { code: 0, data: '', log: '', codespace: '', hash }
      } catch (error) {
        if (!(error instanceof AbciError)) throw new CometError(String(error))
        return { code: error.code, data: '', log: error.message, codespace: error.codespace, hash }
      }
    },
    abci_query: (params) => {
      const { path, data } = abciQuery.parse(params)
      return { response: answerQuery(ledger, path, Buffer.from(data, 'hex')) }
    },
  }
}

const answerQuery = (ledger: Ledger, path: string, request: Uint8Array) => {
  const answer = (value: Uint8Array | null, code = 0, log = '') => ({
    code,
    log,
    info: '',
    index: '0',
    key: null,
    value: value === null ? null : toBase64(value),
    proofOps: null,
    height: `${ledger.head().height}`,
    codespace: code === 0 ? '' : 'sdk',
  })
  switch (path) {
    case '/cosmos.auth.v1beta1.Query/Account': {
      const { address } = z.object({ address: z.string() }).parse(decode('QueryAccountRequest', request))
      const account = ledger.findAccount(address)
      if (account === null) return answer(null, 22, `account ${address} not found: key not found`)
      const { number, sequence, publicKey } = account
      const key =
        publicKey === null
          ? {}
          : {
              pub_key: {
                type_url: '/cosmos.crypto.secp256k1.PubKey',
                value: encode('PubKey', { key: publicKey }),
              },
            }
      const value = encode('BaseAccount', { address, ...key, account_number: number, sequence })
      return answer(
        encode('QueryAccountResponse', { account: { type_url: '/cosmos.auth.v1beta1.BaseAccount', value } }),
      )
    }
    case '/cosmos.auth.v1beta1.Query/AccountInfo': {
      const { address } = z.object({ address: z.string() }).parse(decode('QueryAccountRequest', request))
      const account = ledger.findAccount(address)
      if (account === null) return answer(null, 22, `account ${address} not found: key not found`)
      const info = { address, account_number: account.number, sequence: account.sequence }
      return answer(encode('QueryAccountInfoResponse', { info }))
    }
    case '/cosmos.bank.v1beta1.Query/Balance': {
      const shape = z.object({ address: z.string(), denom: z.string() })
      const { address, denom } = shape.parse(decode('QueryBalanceRequest', request))
      const amount = `${ledger.bank.balanceOf(address, denom || feeDenom)}`
      return answer(encode('QueryBalanceResponse', { balance: { denom, amount } }))
    }
    case '/cosmos.bank.v1beta1.Query/SupplyOf': {
      const { denom } = z.object({ denom: z.string() }).parse(decode('QuerySupplyOfRequest', request))
      const amount = `${ledger.bank.supplyOf(denom)}`
      return answer(encode('QuerySupplyOfResponse', { amount: { denom, amount } }))
    }
    case '/cosmos.base.node.v1beta1.Service/Config':
      return answer(encode('ConfigResponse', { minimum_gas_price: `${minGasPrice.toFixed(18)}${feeDenom}` }))
    case '/cosmos.tx.v1beta1.Service/Simulate':
      return answer(
        encode('SimulateResponse', { gas_info: { gas_wanted: 0, gas_used: gasPerTransaction * 2 } }),
      )
    default:
      return answer(null, 6, 'unknown query path: unknown request')
  }
}
