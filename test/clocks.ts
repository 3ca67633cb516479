import ts from 'typescript'
import { expect, it } from 'vitest'
import { waitLimitMs } from './support/pollUntil.js'
import { listNodes, readSourceFiles, type SourceFile } from './support/sourceFiles.js'

/*
 * No test waits for wall-clock time that it does not control, and none fails because the machine stood still: it waits for
 * a condition, with pollUntil and its one limit, and moves time by hand where the behaviour is about time.
 */

/** Places that may use the clock or end soon, by the reason: a file, or a file and what is found in it. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'What the chain or a fault keeps from ending is pending: the wait begins with its first record (startPatientWait).':
    [
      'test/chains/evm/attacks.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/attacks/finality.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/attacks/finality.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/evm/attacks/nonces.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/evm/attacks/strangers.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/authCapture/agency.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/authCapture/agencyAttacks.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/authCapture/deadlines.test.ts SETTLE_WAIT_SECONDS: 10',
      'test/chains/evm/authCapture/settle.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/authCapture/settle.test.ts SETTLE_WAIT_SECONDS: 10',
      'test/chains/evm/authCapture/deadlineActions.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/authCapture/deadlineAttacks.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/channels/settle.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/channels/instances.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/evm/channels/custody.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/evm/channels/care.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/evm/channels/sharedClaims.test.ts SETTLE_WAIT_SECONDS: 3',
      'test/chains/evm/channels/rotation.test.ts SETTLE_WAIT_SECONDS: 3',
      'test/chains/evm/channels/withdrawals.test.ts SETTLE_WAIT_SECONDS: 3',
      'test/chains/evm/availability.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/exact/recovery.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/exact/reorgs.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/exact/settle.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/minimumPayment.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/permit2/exact/attacks.test.ts SETTLE_WAIT_SECONDS: 4',
      'test/chains/evm/upto/holds.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/evm/webhooks.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/solana/attacks.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/solana/exact/resolve.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/solana/exact/settle.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/solana/minimumPayment.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/ton/attacks.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/ton/exact/settle.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/ton/minimumPayment.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/ton/races.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/ton/races.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/ton/sponsoring.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/ton/transactions/relayQueue.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/tron/attacks.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/tron/exact/settle.test.ts SETTLE_WAIT_SECONDS: 3',
      'test/chains/tron/expiry.test.ts SETTLE_WAIT_SECONDS: 3',
      'test/chains/tron/minimumPayment.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/chains/tron/open.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/chains/tron/open.test.ts SETTLE_WAIT_SECONDS: 3',
      'test/deploy/faults/networks.test.ts SETTLE_WAIT_SECONDS: 2',
      'test/deploy/faults/settlements.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/e2e/guides.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/e2e/sdk.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/e2e/settlementLog.test.ts SETTLE_WAIT_SECONDS: 1',
      'test/e2e/traces.test.ts SETTLE_WAIT_SECONDS: 1',
    ],
  'The deadline is expected to pass: a slow machine only lets it pass later.': [
    'test/chains/evm/rpc/untrustedCalls.test.ts timeoutMs: 1',
    'test/chains/evm/attacks.test.ts EVM_RPC_TIMEOUT_MS: 300',
    'test/chains/evm/attacks/untrustedCode.test.ts EVM_WALLET_CALL_TIMEOUT_MS: 1000',
    'test/chains/evm/upto/holds.test.ts maxTimeoutSeconds: 0.001',
    'test/chains/nodes/jsonRpcEndpoint.test.ts deadlineMs: 150',
    'test/cli/admin/operations.test.ts EVM_RPC_TIMEOUT_MS: 300',
    'test/concurrency/deadline.test.ts milliseconds: 20',
    'test/contracts/schemeContract.ts missedDeadline: 1500',
    'test/contracts/schemeContract.ts missedDeadline: 500',
    'test/e2e/databaseFaults.test.ts DATABASE_READ_TIMEOUT_MS: 2000',
    'test/e2e/families/networkFacts.ts _RPC_TIMEOUT_MS: 500',
    'test/e2e/sdk.test.ts timeoutMs: 1500',
    'test/http/bodyLimits.test.ts deadlineMs: 300',
    'test/http/openConnections.test.ts firstByteTimeoutMs: 500',
    'test/http/requestsInFlight.test.ts unreadTimeoutMs: 500',
    'test/http/sockets.test.ts requestTimeoutMs: 300',
    'test/platform/guardedFetch.test.ts deadlineMs: 200',
    'test/platform/resourceProbe.test.ts deadlineMs: 200',
    'test/stores/postgres/database/mapDatabaseErrors.test.ts text with 50',
    'test/stores/postgres/database/mapDatabaseErrors.test.ts query_timeout: 500',
    'test/stores/postgres/database/transaction.test.ts query_timeout: 50',
    'test/stores/postgres/database/upgrade.test.ts lockTimeoutMs: 200',
    'test/stores/postgres/embedded/startEmbeddedPostgres.test.ts stopDeadlineMs: 200',
    'test/stores/postgres/journal/slowJournal.test.ts statementTimeoutMs: 4000',
    'test/stores/redis/rateLimiter.test.ts readyDeadlineMs: 200',
    'test/support/redis.ts redis.options.commandTimeout: 1000',
    'test/support/redis.ts shortTimeoutMs: 1000',
    'test/usecases/core/detectReorgs.test.ts deadlineMs: 5',
    'test/usecases/reconciliation/plantedDifferences.test.ts countersTimeoutMs: 0',
    'test/usecases/reconciliation/plantedDifferences.test.ts timeoutMs: 50',
  ],
  'What hangs is expected to miss the deadline; all else answers before the event loop turns, and so before any timer.':
    [
      'test/usecases/core/directPayments.test.ts waitMs: 250',
      'test/usecases/core/settleAuthorization.test.ts waitMs: 1',
      'test/usecases/core/settleAuthorization.test.ts waitMs: 20',
      'test/usecases/intents/executeIntent.test.ts deadlineMs: 500',
      'test/usecases/intents/planRoutes.test.ts deadlineMs: 100',
      'test/usecases/operator/overview.test.ts deadlineMs: 50',
    ],
  'A payment that is not there is answered for without a wait; one that is there is found first.': [
    'test/chains/evm/authCapture/merchants.ts waitSeconds: 0',
    'test/chains/aptos/openChain.ts APTOS_VERIFY_WAIT_MS: 100',
    'test/chains/cosmos/scene.ts COSMOS_VERIFY_WAIT_MS: 0',
    'test/chains/near/scene.ts NEAR_VERIFY_WAIT_MS: 0',
    'test/chains/polkadot/openScheme.ts POLKADOT_VERIFY_WAIT_MS: 0',
    'test/chains/stacks/openScheme.ts STACKS_VERIFY_WAIT_MS: 0',
    'test/chains/tezos/openChain.ts TEZOS_VERIFY_WAIT_MS: 100',
    'test/chains/toyFamily.test.ts TOWN_VERIFY_WAIT_MS: 0',
    'test/schemes/exactDirect/scheme.test.ts verifyWaitMs: 0',
  ],
  'Timers and clock are moved by hand.': [
    'test/chains/common/networkMonitor.test.ts performance.now',
    'test/chains/evm/transactions/batching/callQueue.test.ts maxWaitMs: 1',
    'test/chains/evm/transactions/batching/callQueue.test.ts maxWaitMs: 20',
    'test/chains/evm/transactions/batching/callQueue.test.ts maxWaitMs: 40',
    'test/chains/evm/transactions/batching/callQueue.test.ts maxWaitMs: 50',
    'test/concurrency/gathering.test.ts maxWaitMs: 1000',
    'test/concurrency/microBatcher.test.ts maxWaitMs: 20',
    'test/http/sockets.test.ts performance.now',
    'test/stores/postgres/database/pool.test.ts connectionTimeoutMs: 50',
    'test/stores/postgres/database/pool.test.ts connectionTimeoutMs: 8000',
    'test/usecases/captures/actOnDeadlines.test.ts waitMs: 25000',
    'test/usecases/webhooks/readEvents.test.ts waitSeconds: 20',
  ],
  'The value is read or compared; nothing ends by it.': [
    'test/chains/common/direct/settings.test.ts TOY_RPC_TIMEOUT_MS: 200',
    'test/chains/common/direct/settings.test.ts TOY_VERIFY_WAIT_MS: 0',
    'test/chains/evm/channels/channelScene.ts maxTimeoutSeconds: 0',
    'test/config.test.ts EVM_RPC_TIMEOUT_MS: 1000',
    'test/config.test.ts SETTLE_WAIT_SECONDS: 40',
    'test/config.test.ts VERIFY_DEADLINE_SECONDS: 3',
    'test/stores/openStores.test.ts databaseReadTimeoutMs: 7000',
    'test/e2e/rollingRestart.test.ts server.keepAliveTimeout: 0',
    'test/extensions/bazaar/readRecipients.test.ts maxTimeoutSeconds: 1.5',
    'test/http/requests.test.ts maxTimeoutSeconds: 0',
    'test/protocol/readPayment.test.ts maxTimeoutSeconds: 9',
    'test/stores/postgres/database/measuredPool.test.ts text with 0',
    'test/stores/postgres/database/tracedPool.test.ts text with 1500',
    'test/support.test/payment.test.ts maxTimeoutSeconds: 5',
    'test/usecases/operator/pauses.test.ts performance.now',
  ],
  'It ends no request: 0 stands for no limit, and a connection that ends is idle.': [
    'test/e2e/rollingRestart.test.ts headersTimeout: 0',
    'test/e2e/rollingRestart.test.ts bodyTimeout: 0',
    'test/e2e/rollingRestart.test.ts keepAliveMaxTimeout: 4000',
    'test/e2e/rollingRestart.test.ts timeout: 0',
  ],
  'It goes on until the test has seen what it waits for.': [
    'test/chains/nodes/jsonRpcEndpoint.test.ts setInterval',
    'test/e2e/rollingRestart.test.ts systemClock.sleep',
    'test/http/bodyLimits.test.ts setInterval',
    'test/stores/redis/rateLimiter.test.ts systemClock.sleep',
    'test/support/webhookWorker.ts systemClock.sleep',
  ],
  'It makes likely what a test repeats, or does without.': [
    'test/chains/evm/attacks.test.ts milliseconds: 150',
    'test/chains/evm/attacks/finality.test.ts milliseconds: 200',
    'test/chains/evm/upto/settle.test.ts milliseconds: 300',
    'test/support.test/rpcProxy.test.ts milliseconds: 1',
  ],
  'It is the one wait of tests.': ['test/support/pollUntil.ts'],
  'It stands for a node or a network, which has a pace of its own and is slow, silent or lost when a test says so.':
    [
      'test/support/aptos/aptosChain.ts',
      'test/support/near/methods.ts',
      'test/support/near/nearChain.ts',
      'test/support/polkadot/assetHub.ts',
      'test/support/rpcProxy.ts',
      'test/support/solana/rpcServer.ts',
      'test/support/startBlocks.ts',
      'test/support/tcpProxy.ts',
    ],
  'It is a run of `npm run chaos`, whose faults and clients come by the clock; the books are compared at its end.':
    [
      'test/chaos/channels.ts',
      'test/chaos/clients.ts',
      'test/chaos/database.ts',
      'test/chaos/injectFault.ts',
      'test/chaos/instance.ts',
      'test/chaos/miner.ts',
      'test/chaos/reconcile.ts',
      'test/chaos/round.ts',
      'test/chaos/world.ts',
    ],
  'The suite inside a test has no limit, because the test kills it.': [
    'test/support.test/interrupted/vitest.config.ts',
  ],
}

const timerModules = /^(node:)?timers(\/promises)?$/
/** Calls that wait for the clock. */
const waits = /^(set(Timeout|Interval)|Atomics\.wait\w*|vi\.wait(For|Until)|expect\.poll)$|\.sleep$/
/** Calls that measure, where a test can assert on what they return. */
const measurements = /^(performance\.now|process\.(hrtime(\.bigint)?|uptime))$/
/** Calls with a limit among their arguments. */
const limited = /^((it|test|describe|(before|after)(All|Each))\b|AbortSignal\.timeout$|\w+Deadline$)/
/** Names of limits: options, environment values, constants, defaults. With their unit, in ms. */
const limitNames: readonly (readonly [RegExp, number])[] = [
  [/((timeout|deadline|wait|lease)_?(ms|millis)(_.*)?|timeout|^milliseconds)$/i, 1],
  [/(timeout|deadline|wait|lease)_?seconds(_.*)?$/i, 1_000],
]
/** The same in SQL and in scripts. */
const limitTexts: readonly (readonly [RegExp, number])[] = [
  [/_timeout\s*(?:=|to)\s*'?(\d+)/i, 1],
  [/\b(?:pg_sleep\(|sleep )([\d.]+)/, 1_000],
]

/** A number, also in quotes or as a constant of the file; NaN for what is computed. */
const readNumber = (node: ts.Node, constants: ReadonlyMap<string, number>): number => {
  if (ts.isNumericLiteral(node) || ts.isStringLiteralLike(node)) return Number.parseFloat(node.text)
  return ts.isIdentifier(node) ? (constants.get(node.text) ?? Number.NaN) : Number.NaN
}

const readConstants = ({ tree }: SourceFile): ReadonlyMap<string, number> => {
  const constants = new Map<string, number>()
  for (const node of listNodes(tree)) {
    if (!ts.isVariableDeclaration(node) || node.initializer === undefined) continue
    const value = readNumber(node.initializer, new Map())
    if (!Number.isNaN(value)) constants.set(node.name.getText(tree), value)
  }
  return constants
}

interface NamedValue {
  readonly name: ts.Node
  readonly value: ts.Node
}

/** Of a property, a variable, a default or an assignment. */
const readNamed = (node: ts.Node): NamedValue | null => {
  if (
    ts.isPropertyAssignment(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isBindingElement(node) ||
    ts.isParameter(node)
  ) {
    return node.initializer === undefined ? null : { name: node.name, value: node.initializer }
  }
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken
    ? { name: node.left, value: node.right }
    : null
}

/** Whether it is an argument of a comparison: nothing waits for that. */
const isExpected = (node: ts.Node, tree: ts.SourceFile): boolean => {
  const { parent } = node
  if (parent === undefined) return false
  const isArgument = ts.isCallExpression(parent) && parent.expression !== node
  return (isArgument && /^expect\(/.test(parent.expression.getText(tree))) || isExpected(parent, tree)
}

const isText = (node: ts.Node): node is ts.LiteralLikeNode =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

const judgeNode = (node: ts.Node, file: SourceFile, constants: ReadonlyMap<string, number>): string[] => {
  if (ts.isCallExpression(node)) {
    const callee = node.expression.getText(file.tree)
    if (waits.test(callee)) return [callee]
    if (measurements.test(callee) && file.path.endsWith('.test.ts')) return [callee]
    if (!limited.test(callee)) return []
    const limits = node.arguments.map((argument) => readNumber(argument, constants))
    return limits.filter((limit) => limit < waitLimitMs).map((limit) => `${callee}: ${limit}`)
  }
  if (isText(node)) {
    return limitTexts.flatMap(([text, unitMs]) => {
      const [, limit] = text.exec(node.text) ?? []
      return limit !== undefined && Number(limit) * unitMs < waitLimitMs ? [`text with ${limit}`] : []
    })
  }
  const named = readNamed(node)
  const limit = named === null ? Number.NaN : readNumber(named.value, constants)
  if (named === null || Number.isNaN(limit)) return []
  const name = named.name.getText(file.tree).replace(/['"`[\]]|\$\{.*?\}/g, '')
  const [, unitMs] = limitNames.find(([pattern]) => pattern.test(name)) ?? []
  const isShort = unitMs !== undefined && limit * unitMs < waitLimitMs
  return isShort && !isExpected(node, file.tree) ? [`${name}: ${limit}`] : []
}

const listPlaces = (file: SourceFile): readonly string[] => {
  const constants = readConstants(file)
  // Their names are text of the file.
  const imports = file.text.includes('timers')
    ? file.imports.filter(({ specifier }) => timerModules.test(specifier))
    : []
  return [
    ...imports.map(({ specifier }) => `imports ${specifier}`),
    ...listNodes(file.tree).flatMap((node) => judgeNode(node, file, constants)),
  ]
}

const found = new Map(readSourceFiles('test').map((file) => [file.path, listPlaces(file)]))
const reasons = new Set(Object.values(allowed).flat())

it('no test waits for the clock, measures time or has a limit below a minute', () => {
  const places = [...found].flatMap(([path, list]) =>
    reasons.has(path) ? [] : list.map((place) => `${path} ${place}`),
  )
  expect(places.filter((place) => !reasons.has(place))).toEqual([])
})

it('every place that may use the clock or end soon does', () => {
  const known = [...found].flatMap(([path, list]) =>
    list.length === 0 ? [] : [path, ...list.map((place) => `${path} ${place}`)],
  )
  expect([...reasons].filter((place) => !known.includes(place))).toEqual([])
})
