import { setNewest } from '../concurrency/boundedMap.js'
import { completeSpan, findCurrentSpan, traceStep } from '../platform/tracer/currentSpan.js'
import { writeTraceparent } from '../platform/tracer/traceContext.js'
import type { Recorder, SettlementJournal } from '../ports/settlementJournal.js'
import type { SignerLanes } from '../ports/signerLanes.js'
import type { SpanContext, Tracer } from '../ports/tracer.js'
import type { WebhookTransport } from '../ports/webhookOutbox.js'
import type { Scheme } from '../schemes/scheme.js'
import type { CoreUseCases } from '../usecases/core/useCases.js'

/** Wraps what payments pass through; without a collector nothing is wrapped. */
interface PaymentTraces {
  wrapUseCases(useCases: CoreUseCases): CoreUseCases
  wrapJournal(journal: SettlementJournal): SettlementJournal
  wrapLanes(lanes: SignerLanes): SignerLanes
  wrapScheme(scheme: Scheme): Scheme
  wrapTransport(transport: WebhookTransport): WebhookTransport
}

// Open settlements are few; of older ones, what resolves them has no link.
const maxRemembered = 10_000

export const createPaymentTraces = (tracer: Tracer): PaymentTraces => {
  /** In which trace a settlement was claimed, by its id. */
  const claimed = new Map<string, SpanContext>()

  const wrapRecorder = (recorder: Recorder): Recorder => ({
    ...recorder,
    // With `write` the bytes are stored by a lane, which has the span.
    record: (signed, write) => {
      const run = () => recorder.record(signed, write)
      return write === undefined ? traceStep({ name: 'record', kind: 'internal' }, run) : run()
    },
  })

  return {
    wrapUseCases: (useCases) => ({
      ...useCases,
      verifyPayment: (request) =>
        traceStep({ name: 'verify', kind: 'internal', attributes: describeBody(request.body) }, async () => {
          const result = await useCases.verifyPayment(request)
          const { isValid, invalidReason = '', payer = '' } = result
          findCurrentSpan()?.setAttributes({
            'quittance.is_valid': isValid,
            'quittance.reason': invalidReason,
            'quittance.payer': publicText(payer),
          })
          return result
        }),
      settlePayment: (request) =>
        traceStep({ name: 'settle', kind: 'internal', attributes: describeBody(request.body) }, async () => {
          const response = await useCases.settlePayment(request)
          const { success, errorReason = '', payer = '', transaction, settlementId = '' } = response.result
          findCurrentSpan()?.setAttributes({
            'quittance.is_settled': success,
            'quittance.is_replayed': response.isReplayed,
            'quittance.reason': errorReason,
            'quittance.payer': publicText(payer),
            'quittance.transaction': transaction,
            'quittance.settlement_id': settlementId,
          })
          return response
        }),
    }),

    wrapJournal: (journal) => ({
      ...journal,
      claim: (...given) =>
        traceStep({ name: 'claim', kind: 'internal' }, async () => {
          const settlement = await journal.claim(...given)
          const context = findCurrentSpan()?.context
          if (settlement !== null && context !== undefined) {
            setNewest(claimed, settlement.id, context, maxRemembered)
          }
          return settlement
        }),
      recorderFor: (id) => wrapRecorder(journal.recorderFor(id)),
      close: (...given) => traceStep({ name: 'close', kind: 'internal' }, () => journal.close(...given)),
    }),

    wrapLanes: (lanes) => ({
      ...lanes,
      record: (...given) => traceStep({ name: 'record', kind: 'internal' }, () => lanes.record(...given)),
    }),

    wrapScheme: (scheme) => ({
      ...scheme,
      resolve: async (settlement, signal, options) => {
        const run = () => scheme.resolve(settlement, signal, options)
        const attributes = {
          'quittance.network': settlement.network,
          'quittance.scheme': settlement.scheme,
          'quittance.settlement_id': settlement.id,
        }
        const start = { name: 'resolve', kind: 'internal', attributes } as const
        if (findCurrentSpan() !== undefined) return await traceStep(start, run)
        const span = tracer.startRoot({ ...start, link: claimed.get(settlement.id) })
        return span === null ? await run() : await completeSpan(span, run)
      },
    }),

    wrapTransport: (transport) => ({
      findUrlProblem: (url) => transport.findUrlProblem(url),
      post: async (message, stopped) => {
        const attributes = { 'http.request.method': 'POST', 'server.address': hostOf(message.url) }
        const start = { name: 'deliver webhook', kind: 'client', attributes } as const
        const span = findCurrentSpan()?.startChild(start) ?? tracer.startRoot(start)
        if (span === null) return await transport.post(message, stopped)
        return await completeSpan(span, async () => {
          const headers = { ...message.headers, traceparent: writeTraceparent(span.context) }
          const response = await transport.post({ ...message, headers }, stopped)
          if (response.status !== null) span.setAttributes({ 'http.response.status_code': response.status })
          else span.end({ error: new Error('No response') })
          return response
        })
      },
    }),
  }
}

const describeBody = ({ paymentRequirements }: { readonly paymentRequirements: object }) => ({
  'quittance.network': readText(paymentRequirements, 'network'),
  'quittance.scheme': readText(paymentRequirements, 'scheme'),
  'quittance.payee': readText(paymentRequirements, 'payTo'),
})

const readText = (requirements: object, name: string): string => {
  const value: unknown = Reflect.get(requirements, name)
  return typeof value === 'string' ? publicText(value) : ''
}

// Names of networks and schemes, and addresses of every family; no e-mail address, and no sentence.
const publicForm = /^[-\w.:/+=]{1,128}$/

/** Callers choose it: anything else stays out of traces. */
const publicText = (text: string): string => (publicForm.test(text) ? text : '')

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')
