import { z } from 'zod'
import { encode, hashText } from './base58.js'
import type { Receipt } from './execution.js'
import type { Block, Included, Ledger } from './ledger.js'
import type { Content } from './operation.js'

const protocol = 'PtTALLiNtPec7mE7yY4m3k26J8Qukef3E3ehzhfXgFZKGtDdAXu'

export const toIsoTime = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000', '')

const named = (prim: string, name: string, args: readonly unknown[] = []) => ({
  prim,
  annots: [`%${name}`],
  ...(args.length === 0 ? {} : { args }),
})

const transfersNamed = (entrypoint: string) =>
  named('list', entrypoint, [
    {
      prim: 'pair',
      args: [
        named('address', 'from_'),
        named('list', 'txs', [
          {
            prim: 'pair',
            args: [
              named('address', 'to_'),
              { prim: 'pair', args: [named('nat', 'token_id'), named('nat', 'amount')] },
            ],
          },
        ]),
      ],
    },
  ])

/** `check` takes the parameter of `transfer` and moves nothing. */
const fa2Type = { prim: 'or', args: [transfersNamed('transfer'), transfersNamed('check')] }

const routerType = {
  prim: 'or',
  args: [
    named('pair', 'pay', [
      named('address', 'from_'),
      { prim: 'pair', args: [named('address', 'to_'), named('nat', 'amount')] },
    ]),
    named('unit', 'noop'),
  ],
}

const constants = {
  proof_of_work_nonce_size: 8,
  nonce_length: 32,
  max_operation_data_length: 32_768,
  hard_gas_limit_per_operation: '1040000',
  hard_gas_limit_per_block: '1386666',
  hard_storage_limit_per_operation: '60000',
  cost_per_byte: '250',
  origination_size: 257,
  minimal_block_delay: '6',
  delay_increment_per_round: '5',
  max_operations_time_to_live: 450,
}

const toJsonContent = ({ publicKey, ...content }: Content) => ({
  ...content,
  ...(publicKey === undefined ? {} : { public_key: encode('edpk', publicKey) }),
})

const toJsonReceipt = ({ content, status, internals, error }: Receipt) => ({
  ...toJsonContent(content),
  metadata: {
    balance_updates: [],
    operation_result: {
      status,
      ...(status === 'applied' ? { consumed_milligas: '1500000' } : {}),
      ...(error === null
        ? {}
        : {
            errors: [
              {
                kind: 'temporary',
                id: 'proto.024-PtTALLiN.michelson_v1.script_rejected',
                location: 1,
                with: { string: error },
              },
            ],
          }),
    },
    ...(internals.length === 0
      ? {}
      : {
          internal_operation_results: internals.map((call) => ({
            kind: 'transaction',
            source: call.source,
            nonce: call.nonce,
            amount: '0',
            destination: call.destination,
            parameters: call.parameters,
            result: { status: call.status },
          })),
        }),
  },
})

/** GET and POST of octez; undefined for an unknown path. */
export const createOctezRoutes = (ledger: Ledger, chainId: string) => {
  const findBlock = (id: string): Block | undefined => {
    const blocks = ledger.blocks()
    const [, depth] = /^head[~-](\d+)$/.exec(id) ?? []
    if (id === 'head') return blocks.at(-1)
    if (depth !== undefined) return blocks.at(-1 - Number(depth))
    return blocks.find(({ hash, level }) => hash === id || String(level) === id)
  }

  const toJsonHeader = ({ hash, level, predecessor, timeMs }: Block) => ({
    protocol,
    chain_id: chainId,
    hash,
    level,
    proto: 24,
    predecessor,
    timestamp: toIsoTime(timeMs),
    validation_pass: 4,
    operations_hash: hashText('operationList', hash),
    fitness: ['02', '00000001', '', 'ffffffff', '00000000'],
    context: hashText('context', hash),
  })

  const toJsonOperation = ({ operation, receipts }: Included) => ({
    protocol,
    chain_id: chainId,
    hash: operation.hash,
    branch: operation.branch,
    contents: receipts.map(toJsonReceipt),
    signature: operation.signature,
  })

  const typeOf = (contract: string) => {
    switch (ledger.state().contracts.get(contract)?.kind) {
      case 'fa2':
        return fa2Type
      case 'router':
        return routerType
      case undefined:
        return undefined
    }
  }

  const readContract = (address: string, what: string): unknown => {
    const account = ledger.state().accounts.get(address)
    const type = typeOf(address)
    const script = {
      code: [
        { prim: 'parameter', args: [type] },
        { prim: 'storage', args: [{ prim: 'unit' }] },
        { prim: 'code', args: [[]] },
      ],
      storage: { prim: 'Unit' },
    }
    switch (what) {
      case '/counter':
        return String(account?.counter ?? 0n)
      case '/manager_key':
        return account?.publicKey ? encode('edpk', account.publicKey) : null
      case '/balance':
        return '1000000000'
      case '/entrypoints': {
        const entrypoints = type?.args.map((each) => [each.annots[0]?.slice(1), each])
        return entrypoints && { entrypoints: Object.fromEntries(entrypoints), unreachable: [] }
      }
      case '/entrypoints/transfer':
        return type?.args.find(({ annots }) => annots.includes('%transfer'))
      case '/script':
      case '/script/normalized':
        return type && script
      case '/storage':
        return type && { prim: 'Unit' }
      case '':
        return type === undefined
          ? { balance: '1000000000', counter: String(account?.counter ?? 0n) }
          : { balance: '0', script }
      default:
        return undefined
    }
  }

  const result = { status: 'applied', consumed_milligas: '1500000', storage_size: '100' }
  const contentsShape = z.looseObject({ contents: z.array(z.looseObject({})) })
  const simulate = (operation: unknown) => ({
    contents: contentsShape.parse(operation).contents.map((content) => ({
      ...content,
      metadata: { balance_updates: [], operation_result: result },
    })),
  })

  const viewShape = z.object({
    contract: z.string(),
    entrypoint: z.literal('balance_of'),
    input: z.array(
      z.object({
        prim: z.literal('Pair'),
        args: z.tuple([z.object({ string: z.string() }), z.object({ int: z.string() })]),
      }),
    ),
    chain_id: z.literal(chainId),
    unparsing_mode: z.literal('Readable'),
  })

  /** `balance_of` of TZIP-12. */
  const runView = (asked: unknown): unknown => {
    const { contract, input } = viewShape.parse(asked)
    const token = ledger.state().contracts.get(contract)
    if (token?.kind !== 'fa2') throw new Error(`${contract} has no view balance_of`)
    const answerTo = ({ args: [{ string: owner }, { int: tokenId }] }: (typeof input)[number]) => {
      const request = { prim: 'Pair', args: [{ string: owner }, { int: tokenId }] }
      const balance = token.balances.get(`${owner}:${tokenId}`) ?? 0n
      return { prim: 'Pair', args: [request, { int: String(balance) }] }
    }
    return { data: input.map(answerTo) }
  }

  const readBlock = (block: Block, path: string, body: string): unknown => {
    const [, contract, what = ''] = /^\/context\/contracts\/(\w+)(.*)$/.exec(path) ?? []
    if (contract !== undefined) return readContract(contract, what)
    const [, index] = /^\/operations\/3\/(\d+)$/.exec(path) ?? []
    if (index !== undefined) {
      const included = block.operations[Number(index)]
      return included && toJsonOperation(included)
    }
    const hashes = block.operations.map(({ operation }) => operation.hash)
    switch (path) {
      case '':
        return {
          protocol,
          chain_id: chainId,
          hash: block.hash,
          header: toJsonHeader(block),
          metadata: { protocol, next_protocol: protocol },
          operations: [[], [], [], block.operations.map(toJsonOperation)],
        }
      case '/header':
        return toJsonHeader(block)
      case '/hash':
        return block.hash
      case '/protocols':
        return { protocol, next_protocol: protocol }
      case '/operation_hashes/3':
        return hashes
      case '/operations/3':
        return block.operations.map(toJsonOperation)
      case '/context/constants':
        return constants
      case '/helpers/scripts/run_view':
        return runView(JSON.parse(body))
      case '/helpers/scripts/simulate_operation':
        return simulate(z.object({ operation: z.unknown() }).parse(JSON.parse(body)).operation)
      case '/helpers/preapply/operations':
        return z.array(z.unknown()).parse(JSON.parse(body)).map(simulate)
      default:
        return undefined
    }
  }

  return (path: string, body: string): unknown => {
    if (path === '/injection/operation') return ledger.submit(z.string().parse(JSON.parse(body)))
    if (path === '/chains/main/chain_id') return chainId
    const [, id, rest = ''] = /^\/chains\/main\/blocks\/([^/]+)(.*)$/.exec(path) ?? []
    const block = id === undefined ? undefined : findBlock(id)
    return block && readBlock(block, rest, body)
  }
}
