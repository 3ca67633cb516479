import { createMiddleware } from '@faremeter/middleware/express'
import express from 'express'
import { listen } from '../listen.mjs'
import { report, requirementsV1 } from '../routes.mjs'

export const openShop = async ({ facilitatorUrl, families, version }) => {
  const app = express()
  for (const [family, terms] of Object.entries(families)) {
    const { resource: _, extra: __, ...accepted } = requirementsV1(terms)
    app.get(
      `/${family}`,
      await createMiddleware({
        facilitatorURL: facilitatorUrl,
        accepts: [accepted],
        supportedVersions: { x402v1: version === 1, x402v2: version === 2 },
      }),
      (_request, response) => response.json(report),
    )
  }
  return listen(app)
}
