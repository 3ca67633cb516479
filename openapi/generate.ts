import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Document, isCollection, isPair, visit } from 'yaml'
import { bodyLimits } from '../src/protocol/requestLimits.js'
import type { CoreUseCases } from '../src/usecases/core/useCases.js'
import type { DashboardUseCases } from '../src/usecases/dashboard/useCases.js'
import type { DiscoveryUseCases } from '../src/usecases/discovery/useCases.js'
import type { IntentUseCases } from '../src/usecases/intents/useCases.js'
import type { OperatorUseCases } from '../src/usecases/operator/useCases.js'
import type { StreamUseCases } from '../src/usecases/streams/useCases.js'
import type {
  ChannelUseCases,
  CreditUseCases,
  SandboxUseCases,
  SiwxUseCases,
  StatsUseCases,
  WebhookUseCases,
} from '../src/usecases/useCases.js'
import { showHelp } from '../test/support/showHelp.js'

const refuse = (): never => {
  throw new Error('The document is made from the routes alone; nothing may be called for it')
}

const core: CoreUseCases = {
  verifyPayment: refuse,
  explainPayment: refuse,
  listReasons: refuse,
  completeAccepts: refuse,
  priceAccepts: refuse,
  settlePayment: refuse,
  getSettlement: refuse,
  getSettlementByTransaction: refuse,
  listSettlements: refuse,
  listSupported: refuse,
  listNetworks: refuse,
  findRouter: refuse,
  checkReadiness: refuse,
  describeService: refuse,
}

const channels: ChannelUseCases = { listChannels: refuse, getChannel: refuse }

const dashboard: DashboardUseCases = {
  authenticate: refuse,
  checkRegistration: refuse,
  register: refuse,
  createApiKey: refuse,
  listApiKeys: refuse,
  revokeApiKey: refuse,
  readAudit: refuse,
  lookUp: refuse,
  readInfo: refuse,
  readQuota: refuse,
  listKeys: refuse,
  readUsage: refuse,
  listSettlements: refuse,
  rotateKey: refuse,
  restrict: refuse,
  countKeys: refuse,
}
const siwx: SiwxUseCases = { issueNonce: refuse, verifySignIn: refuse }
const stats: StatsUseCases = {
  countRequest: refuse,
  readRequestStatistics: refuse,
  readSettlementStatistics: refuse,
}
const credit: CreditUseCases = { readScore: refuse, refreshScore: refuse, listTop: refuse }
const sandbox: SandboxUseCases = {
  listAddresses: refuse,
  createPayment: refuse,
  createScenario: refuse,
  getScenario: refuse,
  advanceClock: refuse,
  createInbox: refuse,
  readInbox: refuse,
}
const webhooks: WebhookUseCases = {
  setWebhook: refuse,
  testWebhook: refuse,
  rotateSecret: refuse,
  listDeliveries: refuse,
  redeliver: refuse,
  readEvents: refuse,
}

const streams: StreamUseCases = {
  openStream: refuse,
  updateStream: refuse,
  closeStream: refuse,
  pauseStream: refuse,
  resumeStream: refuse,
  getStream: refuse,
  listStreams: refuse,
}

const discovery: DiscoveryUseCases = {
  listResources: refuse,
  searchResources: refuse,
  getResource: refuse,
  validateDeclaration: refuse,
  changeListing: refuse,
}

const operator: OperatorUseCases = {
  countCaller: refuse,
  readCallers: refuse,
  readOverview: refuse,
  searchAccounts: refuse,
  setTier: refuse,
  revokeAccount: refuse,
  listPauses: refuse,
  setPause: refuse,
  clearPause: refuse,
  redeliver: refuse,
  readAudit: refuse,
}

const intents: IntentUseCases = {
  createIntent: refuse,
  getIntent: refuse,
  listIntents: refuse,
  selectRoute: refuse,
  executeIntent: refuse,
  cancelIntent: refuse,
  refreshIntent: refuse,
}

export interface RenderedDocument {
  readonly yaml: string
  /** It is one line, for programs. */
  readonly json: string
}

/** The OpenAPI document of the routes: the same text for the same code. */
export const renderDocument = async (): Promise<RenderedDocument> => {
  // Loaded here, so that --help need not.
  const [{ buildApp }, { createMetrics }] = await Promise.all([
    import('../src/app.js'),
    import('../src/platform/metrics.js'),
  ])
  const app = buildApp({
    useCases: {
      channels,
      core,
      credit,
      dashboard,
      operator,
      reconciliation: { reconcilePeriod: refuse },
      recipients: {
        writeMessage: refuse,
        stateRecipient: refuse,
        listRecipients: refuse,
        deleteRecipient: refuse,
      },
      siwx,
      stats,
      streams,
      webhooks,
      sandbox,
      discovery,
      intents,
      captures: {
        moveHold: refuse,
        setAtDeadline: refuse,
        setDefault: refuse,
        getDefault: refuse,
        getHeldPayment: refuse,
        listHeldPayments: refuse,
      },
    },
    settings: { trustProxy: [], maxPaymentBodyBytes: bodyLimits.payment },
    metrics: createMetrics({ kinds: [], measuresProcess: false }),
  })
  await app.ready()
  const document = app.swagger()
  await app.close()
  return { yaml: renderYaml(document), json: `${JSON.stringify(document)}\n` }
}

const longestOnOneLine = 80

/** Short lists and objects without others in them are on one line, such as references. */
const renderYaml = (document: object): string => {
  const yaml = new Document(document)
  visit(yaml, {
    Collection: (_key, collection) => {
      const isLeaf = collection.items.every((item) => !isCollection(isPair(item) ? item.value : item))
      collection.flow = isLeaf && JSON.stringify(collection).length <= longestOnOneLine
    },
  })
  // Folded lines would break references and hashes in two.
  return yaml.toString({ lineWidth: 0 })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  showHelp(
    'Usage: npm run openapi\n\nWrites openapi/openapi.yaml and openapi.json from the routes, and sdk/src/schema.ts from them.',
  )
  for (const [format, text] of Object.entries(await renderDocument())) {
    const file = fileURLToPath(new URL(`openapi.${format}`, import.meta.url))
    writeFileSync(file, text)
    console.log(`Wrote ${file}`)
  }
  const { writeTypes } = await import('../sdk/generate.js')
  await writeTypes()
}
