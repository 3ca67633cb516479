import { z } from 'zod'

const required = z.looseObject({
  accepts: z.array(
    z.looseObject({ scheme: z.string(), network: z.templateLiteral([z.string(), ':', z.string()]) }),
  ),
})

type Offer = z.infer<typeof required>['accepts'][number]

/** What a shop asks for the resource under `exact`, version 2: the first offer. */
export const readOffer = async (url: string): Promise<Offer> => {
  const response = await fetch(url).catch(() => null)
  if (response === null) throw new Error(`Nothing answers at ${url}`)
  const header = response.headers.get('PAYMENT-REQUIRED')
  if (response.status !== 402 || header === null) {
    throw new Error(`${url} answers ${response.status}, and not 402 with the header PAYMENT-REQUIRED`)
  }
  const { accepts } = required.parse(JSON.parse(Buffer.from(header, 'base64').toString('utf8')))
  const offer = accepts.find(({ scheme }) => scheme === 'exact')
  if (offer !== undefined) return offer
  const offered = accepts.map(({ scheme, network }) => `${scheme} on ${network}`).join(', ')
  throw new Error(`${url} does not take \`exact\`, but ${offered || 'nothing'}`)
}
