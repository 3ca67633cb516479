import type { Receipt } from './execution.js'
import type { Block, Included, Ledger } from './ledger.js'
import { addressOf, numberOf, partsOf, readTransfers } from './micheline.js'
import { toIsoTime } from './octezRoutes.js'
import type { Parameters } from './operation.js'

/** GET of TzKT's API v1; undefined for an unknown path. */
export const createTzktRoutes = (ledger: Ledger, chainId: string) => {
  const toJsonParameter = (contract: string | undefined, parameters: Parameters | undefined) => {
    if (parameters === undefined) return undefined
    const { entrypoint, value } = parameters
    if (ledger.state().contracts.get(contract ?? '')?.kind === 'fa2') {
      const batches = readTransfers(value).map(({ from, transfers }) => ({
        txs: transfers.map(({ to, tokenId, amount }) => ({
          to_: to,
          amount: String(amount),
          token_id: String(tokenId),
        })),
        from_: from,
      }))
      return { entrypoint, value: batches }
    }
    const [from, to, amount] = partsOf(value)
    const pay = { from_: addressOf(from), to_: addressOf(to), amount: String(numberOf(amount)) }
    return { entrypoint, value: pay }
  }

  const toRows = (block: Block, { operation, receipts }: Included) => {
    const shared = {
      type: 'transaction',
      level: block.level,
      timestamp: toIsoTime(block.timeMs),
      block: block.hash,
      hash: operation.hash,
    }
    const toContentRows = ({ content, status, internals, error }: Receipt) => [
      {
        ...shared,
        counter: Number(content.counter),
        sender: { address: content.source },
        target: { address: content.destination },
        amount: Number(content.amount),
        parameter: toJsonParameter(content.destination, content.parameters),
        status,
        ...(error === null ? {} : { errors: [{ type: 'michelson_v1.script_rejected' }] }),
        hasInternals: internals.length > 0,
      },
      ...internals.map((call) => ({
        ...shared,
        counter: Number(content.counter),
        initiator: { address: content.source },
        sender: { address: call.source },
        nonce: call.nonce,
        target: { address: call.destination },
        amount: 0,
        parameter: toJsonParameter(call.destination, call.parameters),
        status: call.status,
        hasInternals: false,
      })),
    ]
    return receipts.filter(({ content }) => content.kind === 'transaction').flatMap(toContentRows)
  }

  /** With `select=balance`: of one owner and token, no row without a balance. */
  const listBalances = (query: URLSearchParams): unknown => {
    const token = ledger.state().contracts.get(query.get('token.contract') ?? '')
    if (token?.kind !== 'fa2') return []
    const balance = token.balances.get(`${query.get('account')}:${query.get('token.tokenId')}`)
    return balance === undefined ? [] : [String(balance)]
  }

  const countTokens = (query: URLSearchParams): number => {
    const contract = ledger.state().contracts.get(query.get('contract') ?? '')
    return contract?.kind === 'fa2' && query.get('tokenId') === '0' ? 1 : 0
  }

  return (path: string, _body: string, query: URLSearchParams): unknown => {
    if (path === '/v1/tokens/count') return countTokens(query)
    if (path === '/v1/tokens/balances') return listBalances(query)
    const [, hash] = /^\/v1\/operations\/transactions\/(\w+)$/.exec(path) ?? []
    if (hash !== undefined) {
      return ledger
        .blocks()
        .flatMap((block) =>
          block.operations
            .filter(({ operation }) => operation.hash === hash)
            .flatMap((included) => toRows(block, included)),
        )
        .map((row, id) => ({ id, ...row }))
    }
    if (path !== '/v1/head') return undefined
    const { level, hash: head, timeMs } = ledger.head()
    return {
      chain: 'ghostnet',
      chainId,
      level,
      hash: head,
      timestamp: toIsoTime(timeMs),
      knownLevel: level,
      lastSync: toIsoTime(timeMs),
      synced: true,
    }
  }
}
