import { createMiddleware } from '@faremeter/middleware/hono'
import { Hono } from 'hono'
import { listenWeb } from '../listen.mjs'
import { report, requirementsV1 } from '../routes.mjs'

export const openShop = async ({ facilitatorUrl, families, version }) => {
  const app = new Hono()
  for (const [family, terms] of Object.entries(families)) {
    const { resource: _, extra: __, ...accepted } = requirementsV1(terms)
    app.get(
      `/${family}`,
      await createMiddleware({
        facilitatorURL: facilitatorUrl,
        accepts: [accepted],
        supportedVersions: { x402v1: version === 1, x402v2: version === 2 },
      }),
      (context) => context.json(report),
    )
  }
  return listenWeb((url, init) => app.request(url, init))
}
