import { HTTPFacilitatorClient } from '@t402/core/server'
import { listenWeb } from '../listen.mjs'
import { report, requirementsV1 } from '../routes.mjs'

/** The package has no server of version 1: this one passes what it receives to the package's facilitator client. */
export const openShop = async ({ facilitatorUrl, families }) => {
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl })
  const { kinds } = await facilitator.getSupported()
  const extraOf = ({ name, extra }) => extra ?? kinds.find(({ network }) => network === name)?.extra
  const requirements = new Map(
    Object.entries(families).map(([family, terms]) => [
      `/${family}`,
      requirementsV1({ ...terms, extra: extraOf(terms) }),
    ]),
  )
  return listenWeb(async (url, { headers }) => {
    const accepted = requirements.get(new URL(url).pathname)
    const refuse = (error) => Response.json({ t402Version: 1, error, accepts: [accepted] }, { status: 402 })
    const header = headers['x-payment']
    if (header === undefined) return refuse('X-PAYMENT header is required')
    const payload = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    const { isValid, invalidReason } = await facilitator.verify(payload, accepted)
    if (!isValid) return refuse(invalidReason)
    const settled = await facilitator.settle(payload, accepted)
    if (!settled.success) return refuse(settled.errorReason)
    const receipt = Buffer.from(JSON.stringify(settled)).toString('base64')
    return Response.json(report, { headers: { 'x-payment-response': receipt } })
  })
}
