// Written by npm run openapi.

export interface paths {
    "/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a payment without moving funds
         * @description Checks whether the payment would settle: structure, scheme and network, recipient, amount, time window, signature (EOA, EIP-1271 and EIP-6492), balance, and a simulation of the transfer that /settle would send.
         *
         *     A rejected payment is a result, not an error: **HTTP 200** with `isValid: false` and the reason. An error status means that there is no result: on 4xx change the request, on 5xx retry it.
         *
         *     Between /verify and /settle the payer can still spend the funds or use the authorization elsewhere. Under `upto` what was verified is reserved: other authorizations of the payer verify only if they fit beside it. Closing the connection cancels the verification.
         */
        post: operations["verifyPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what /verify finds, rule by rule
         * @description Takes the body of /verify, well-formed or not, and runs every rule on it: what was found, what is expected, and how to mend it. Rules after the first broken one run too, as far as what they need is known. The verdict is that of /verify, and `reason` is its `invalidReason`.
         *
         *     For developers: nothing is held, promised, counted against a quota, recorded or sent. Do not deliver on it: a payment that is explained is not reserved.
         */
        post: operations["explainPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle a payment on chain
         * @description Verifies the payment again, sends it, and waits up to 25 s for the outcome. There are three outcomes:
         *
         *     - `success: true` – the funds were transferred to the recipient. Deliver.
         *     - `success: false` with `status: "pending"` and a `transaction` – sent, outcome not known yet. **Do not ask the payer to pay again.** Retry the same request: it joins the settlement in progress. Or poll `GET /v1/settlements/{id}`.
         *     - `success: false` otherwise – no funds moved, and this authorization will not move any, unless `errorReason` is `duplicate_settlement`: then it already paid for another request in `transaction`.
         *
         *     Each authorization yields at most one success. With an `Idempotency-Key` you can retry after a lost response: the same key and body return the first response again, marked by `X-Idempotency-Replayed: true`. Another body under the key is 409 `PAYLOAD_MISMATCH` and charges nothing. Keys are scoped to the caller, without an API key to `network` and `payTo`, and kept for 24 hours. Use one on every settle.
         *
         *     Under `upto`, `settleAmount` says what to transfer, and a success has the fields `transactionHash`, `settledAmount`, `maxAmount`, `blockNumber` and `gasUsed` besides.
         *
         *     Closing the connection does not cancel the settlement.
         */
        post: operations["settlePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/accepts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete payment requirements, or make them from a price
         * @description For middlewares that let the facilitator fill in what only it knows. Two dialects, told apart by the body:
         *
         *     - **`accepts`** (Faremeter): requirements without `extra`, and optionally without `asset`, `scheme` and `maxTimeoutSeconds`. Answered with **200**; entries that this instance cannot settle now are left out.
         *     - **`price`** (thirdweb): dollars or an amount of a token, with `resourceUrl` and `network`. Answered with **402**, whose body is that of a version 1 payment-required response.
         *
         *     Networks keep the name that the caller used. No key is needed, and nothing is stored, except for recipients of `exact-direct` with unique amounts: their amounts are reserved, for API keys of their project only (403).
         */
        post: operations["completeRequirements"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a settlement
         * @description The settlement with the `settlementId` of a /settle response. `pending` becomes `confirmed` or `failed` once there is final proof on chain.
         */
        get: operations["getSettlement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find settlements by transaction or, for operators, by status
         * @description **By `network` and `transaction`**: one transaction can settle several payments. `payer` selects one of them; without it the first is returned, with the rest in `others`.
         *
         *     **By `status`**, for operators: pages of all settlements with this status, newest first, optionally filtered by network and time. Requires `Authorization: Bearer` with the `OPERATOR_TOKEN` of the instance; forbidden if none is set.
         */
        get: operations["findSettlement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Liveness probe
         * @description Returns 200 as long as the process runs, independent of its stores and chains.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readiness probe
         * @description Checks every dependency (database, store, at least one RPC endpoint) and reports each. While it returns 503, a load balancer should route requests elsewhere. It also reports gas that is `low` or `empty`, which does not affect readiness: other instances use the same signers. `stopping`: the instance was told to end, and serves all requests for `SHUTDOWN_DELAY_SECONDS` more.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prometheus metrics
         * @description Prometheus text format: requests and durations, verifications and settlements by network, scheme and result, open, reorged and lost settlements, signer balances, RPC endpoint health, and process metrics. At most a second old. Needs `METRICS_TOKEN` as bearer where the operator set it.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Name, version, endpoints and features of this instance
         * @description Lists the endpoints that this instance serves, its enabled features, and what its networks lack.
         */
        get: operations["getInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tiers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Plans: quotas, limits and prices
         * @description The operator decides names, quotas, rates, fees and prices; the limits apply to callers with an API key.
         */
        get: operations["getTiers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/supported": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Supported schemes and networks
         * @description Every pair of scheme and network that this instance can currently settle, the data that clients need to sign (`extra`), protocol extensions, and the addresses that settlements are sent from. A network is omitted while its RPC endpoints are down or its signers are out of gas.
         */
        get: operations["getSupported"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/router": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Router of a recipient, for the scheme `upto`
         * @description The contract that payers name as the spender of a permit, for `extra.routerAddress` of requirements. It pays to its recipient only. Its address is final before it is deployed.
         */
        get: operations["findRouter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reasons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every reason and error code, and what to do
         * @description Each reason that a payment can be refused for and each error code of this version, when it happens, and what to do. May be cached for an hour.
         */
        get: operations["listReasons"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an API key for a project
         * @description A project of an e-mail address has one key. If the project already exists (the address is case-insensitive), the response contains its existing key, with 200 instead of 201.
         *
         *     Store the key of a 201. `REGISTRATION` of the instance decides who can see it again. `once` (the default): programs on its own machine and callers with the operator token; for all others it is masked (`qtn_sk_********`), and `quota.used` is 0. `open`: every caller. `verified`: the key is sent to the address by mail; the response shows it masked and does not reveal whether the address is known.
         */
        post: operations["registerKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recover the keys of an e-mail address
         * @description The keys of all projects of the address. `REGISTRATION` of the instance decides who sees them in full. `once` (the default): programs on its own machine and callers with the operator token; for all others they are masked. `open`: every caller. `verified`: they are sent to the address by mail, and the response is the same whether it is known or not.
         */
        post: operations["lookUpKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Number of registered API keys
         * @description Currently valid keys: a project counts once, however often its key was rotated.
         */
        get: operations["countKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tier, quota and restrictions of my key
         * @description Tier, remaining monthly quota and restrictions of the key. Does not count against the quota.
         */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All keys of my e-mail address
         * @description The keys of every project of the address; `current` marks the one of this request. Only that one is shown in full: others are masked unless `REGISTRATION` is `open`, or is `once` and the caller a program on the instance’s own machine or an operator (the operator’s token as bearer, the key as `X-API-Key`).
         */
        get: operations["listKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Transactions of the last seven days
         * @description One entry for each of the last seven days (UTC), oldest first; days without a transaction are 0. With `hours`, also the settlements of so many hours: outcomes, amounts by token, and the median time to confirmation.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Settlements of my project
         * @description Pages of settlements, newest first, each with the fee accrued under its tier; pass `nextCursor` as `cursor` to get the next page.
         */
        get: operations["listMySettlements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace my key
         * @description Returns a new key with the name, scopes and expiry of the old one, and invalidates the old one: immediately, or with `graceSeconds` later (until then without the scope `manage`). Tier, quota, webhook, restrictions, settlements and `Idempotency-Key`s stay with the project. Of concurrent rotations, one succeeds.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/restrictions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restrict where my key may be used
         * @description Takes `allowedIPs` and `allowedRef` as `GET /dashboard/info` returns them. A list that is absent stays as it is; null and an empty list allow all. Requests from elsewhere receive 403, which names the address that was seen. An `allowedIPs` without the address of this request is refused unless `force` is true. `allowedRef` restricts web pages only; other clients can send any referrer.
         */
        post: operations["restrictKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Keys of my project
         * @description All keys of the project that can be used or have expired, without the keys themselves. `GET /dashboard/keys` lists the primary keys of all projects of the address.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create a further key
         * @description A key with its own name, scopes and expiry, shown only in this response. It shares tier, quota, restrictions, webhook and settlements of the project, and has no scope that the key of this request lacks. Scopes: `verify` and `settle` for these endpoints, `read` for GET requests of the dashboard, `manage` for its changes. A project has at most 50 valid keys.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key of my project
         * @description Invalidates the key immediately, also one that is retiring after a rotation. The primary key cannot be revoked, only rotated.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Changes to my project
         * @description Every change to keys, webhook, restrictions, recipients and tier of the project, newest first: when, by which key or operator, and from which address. Kept for 400 days.
         */
        get: operations["readAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/recipients/message": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Message that proves a recipient
         * @description The text that the wallet of `payTo` signs, so that this project can state what claims on `exact-direct` payments to it must show. Valid for ten minutes and once, and only for this project and these demands.
         */
        post: operations["writeRecipientMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/recipients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recipients of my project
         * @description What this project has stated about claims, oldest first.
         */
        get: operations["listRecipients"];
        put?: never;
        /**
         * State what claims must show
         * @description States what every claim on an `exact-direct` payment to `payTo` must show, whichever caller makes it and whatever its request says. Proven by a signature of the wallet over the message of `POST /dashboard/recipients/message` for the same body. It replaces an earlier statement for the recipient, also one of another project.
         */
        post: operations["stateRecipient"];
        /**
         * Delete a statement
         * @description Deletes what this project has stated for the recipient. Claims on its payments then follow `EXACT_DIRECT_CLAIMS`.
         */
        delete: operations["deleteRecipient"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit/score": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Credit score of a wallet
         * @description From 0 to 1,000, from the payments that the wallet settled through this facilitator, up to the last one, for all accounts together. Public: payments can be read from the chain as well, failures only here. A wallet that never paid has 0.
         */
        get: operations["getCreditScore"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recount the credit score of a wallet
         * @description Counts the settlements of the wallet again and corrects its figures if they differ. Scores are up to date without it. The wallet is given in the query or in the body.
         */
        post: operations["refreshCreditScore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit/top": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wallets with the highest credit scores
         * @description By score, the highest first; at most a second behind settlements. Wallets without points are left out.
         */
        get: operations["listTopWallets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Request counts and mean duration
         * @description Totals of all instances since the first start, delayed by a few seconds. Requests to `/health`, `/ready` and `/metrics` are excluded. Every 4xx and 5xx response counts as failed.
         */
        get: operations["getRequestStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Settlement counts by status
         * @description Totals of all instances since the first start, delayed by a few seconds.
         */
        get: operations["getSettlementStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reconciliation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare journal, chain, webhooks, quotas and fees of a period
         * @description For operators, with `Authorization: Bearer` and the `OPERATOR_TOKEN` of the instance. Each settlement of the page is compared with the chain, its webhook event, its quota and its fee; the first page also compares all counters with a recount, within 120 s; what takes longer is listed as `not_compared`. At most 1,000 differences of each comparison are listed, and all are counted. Nothing is changed or sent. `format=csv`: a row for each settlement, then a row for each difference, with the next cursor in the header `X-Next-Cursor`.
         */
        get: operations["reconcile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the service is doing
         * @description `instance`: what the instance that answers knows of its networks, endpoints, signers, pools and jobs, from memory. `shared`: what all instances on one database have in common; parts that cannot be read within 1.5 s are null. At most one overview is read a second, however many ask.
         */
        get: operations["readOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/callers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who asks, is refused and occupies the service most
         * @description Of the last hour, of the instance that answers, since its start. Callers are accounts, or addresses of callers without a valid key. Probes, requests of operators and requests that are refused before they are read are not counted.
         */
        get: operations["readCallers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find accounts
         * @description By id, or by the beginning of the e-mail address, in any case. Without `search`: all of them.
         */
        get: operations["searchAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/accounts/{id}/tier": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Grant a tier
         * @description As `admin keys set-tier`. Holds on all instances within two seconds.
         */
        post: operations["setTier"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/accounts/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an account and all its keys
         * @description As `admin keys revoke`. It cannot be undone. What the account has sent is settled, and its events are delivered.
         */
        post: operations["revokeAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/pauses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is paused
         * @description All pauses, as they are stored for all instances, the oldest first.
         */
        get: operations["listPauses"];
        /**
         * Pause a network, a scheme, a recipient or an account
         * @description New payments are refused with `SERVICE_UNAVAILABLE`, `Retry-After` and the reason, on all instances within two seconds, also after restarts. What was promised or sent goes on: settlements are resolved, held funds can be settled, streams close, and earlier answers are repeated. The same request again changes nothing.
         */
        put: operations["setPause"];
        post?: never;
        /**
         * Resume what is paused
         * @description Ends a pause on all instances within two seconds. The same request again changes nothing.
         */
        delete: operations["clearPause"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver a message of any account
         * @description As the owner of the account can; it counts against the 60 redeliveries a minute of the account.
         */
        post: operations["redeliverForAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operator/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What operators did
         * @description Pauses, redeliveries and changes to accounts, by this API and by the commands on the server, newest first, of the last 90 days.
         */
        get: operations["readOperatorAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a stream: hold a payment whose amount is metered
         * @description Verifies a payment under `upto`, by permit or Permit2, and holds its maximum: /verify and /settle refuse the authorization while the stream is open. Report what was used with /v1/stream/update, and settle exactly that with /v1/stream/close. A stream that is not closed settles what was used by itself at `expiresAt`.
         *
         *     A `voucher` under `batch-settlement` opens a stream over its channel, which exists and is funded: nothing is held, updates bring higher vouchers, and the close claims what was used. It needs an API key.
         *
         *     The same request with the same API key returns the same stream (200).
         */
        post: operations["openStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what was used so far
         * @description The amount is cumulative and never shrinks. The same update again has the same answer; with a `sequence`, a late one is refused. What was answered survives any crash. Stop the service when `canContinue` is false.
         */
        post: operations["updateStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a stream and settle the final amount
         * @description Fixes the final amount, sends one settlement, and waits up to 25 s for its outcome. `status: "closing"` says that it is not known yet: it is settled without you, and `stream.closed` or `stream.failed` follows. Closing again with the same amount has the same answer, and never settles twice.
         *
         *     A final amount of 0 transfers nothing and consumes the authorization.
         *
         *     Over a channel whose `receiverAuthorizer` is yours, send `claimAuthorizerSignature`. Without it the answer is `closing` with `claim`, which says what to sign: close again with the signature.
         */
        post: operations["closeStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a stream
         * @description Updates are refused until it is resumed. Its time goes on: at `expiresAt` what was used is settled. Idempotent.
         */
        post: operations["pauseStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused stream
         * @description The stream takes updates again. Idempotent: an active stream stays active.
         */
        post: operations["resumeStream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a stream
         * @description Streams of another account do not exist here (404).
         */
        get: operations["getStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your streams
         * @description Streams of the account of the API key, newest first.
         */
        get: operations["listStreams"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your channels
         * @description Channels of `batch-settlement` whose vouchers are kept for the account of the API key, newest first.
         */
        get: operations["listChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/channels/{network}/{channelId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a channel
         * @description Channels of another account do not exist here (404).
         */
        get: operations["getChannel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set or remove your webhook URL
         * @description Events of your settlements, streams and intents are posted to this URL: `settlement.confirmed`, `settlement.failed`, `settlement.pending` (once, if it was left open) and `settlement.reorged` (its block was removed by a chain reorganization; it is pending again). The body is `{ id, type, timestamp, data }`; `data` is the settlement as `GET /v1/settlements/{id}` returned it at that moment, without `transactions` and `block`. Events of streams (`stream.*`) and intents (`intent.*`) have the stream or intent as data.
         *
         *     Messages are signed according to Standard Webhooks with the `secret` in this response. Setting the same URL again keeps its secret; another URL gets a new one. A message without a 2xx response within 10 seconds is retried after 5 s, 30 s, 5 min, 30 min, 2 h, 5 h and 10 h; a 410 response stops all messages until a URL is set again. Redirects are not followed. Messages can arrive more than once (deduplicate by `webhook-id`) and out of order.
         *
         *     HTTPS only, ports 443 and 8443, and only hosts with public addresses, unless `WEBHOOK_ALLOW` of the instance names others: those may use HTTP and any port. An empty string removes the webhook.
         */
        post: operations["setWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/webhook/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message to your webhook
         * @description Sends `webhook.test` immediately, signed like every other message, and returns the response of the receiver. It is not retried and not logged.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/webhook/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of your webhook
         * @description For 24 hours messages carry two signatures, one per secret, so that you can replace the secret in your receiver without rejecting messages.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/webhook/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook deliveries
         * @description Deliveries of the last 30 days, newest first, with the latest response to each.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/webhook/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver a message
         * @description Schedules the message for immediate delivery to the current URL with the same `webhook-id`. Failures are retried like those of a new message.
         */
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read your events as a feed
         * @description Events of your settlements, streams and intents of the last 30 days, oldest first, whether or not a webhook is set: no public address is needed. Pass the `cursor` of each response to the next request; a request with the same cursor returns the same events again (at least once; deduplicate by `id`). Without a cursor the feed starts with the oldest event, with `latest` after the newest one (repeat it while `hasMore`).
         *
         *     With `wait` the response is delayed until there is an event, at most that many seconds. At most 4 requests of a project wait at a time, and a share of an address; beyond that 429 with `Retry-After`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your intents
         * @description Intents of the account of the key, newest first, without their routes.
         */
        get: operations["listIntents"];
        put?: never;
        /**
         * Ask how a payment can be made
         * @description Computes every way in which this facilitator can settle the payment now: a network, a token and a scheme, with the payer's balance, the fee, the usual time and a score. Nothing is bridged and nothing is exchanged: the payee receives, on the network of the route, the token that the payer has there. `unavailable` says why other networks are no route.
         *
         *     Without an API key the id is the only way to the intent: keep it secret until it is paid. `intentToken`, which is shown once, cancels it: send it as `X-Intent-Token`.
         *
         *     With an `Idempotency-Key` you can repeat the request after a lost response: the same key and body answer the first intent, as it is then, marked by `X-Idempotency-Replayed: true`. Keys are scoped to the caller and kept for 24 hours. Without an API key, use a random one.
         */
        post: operations["createIntent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intent/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an intent
         * @description With the routes as they were last computed, and what became of its payment.
         */
        get: operations["getIntent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intent/{id}/route": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Select a route
         * @description Answers the payment requirements to sign, complete as `POST /accepts` makes them. Another route can be selected until a payment is executed.
         */
        post: operations["selectRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intent/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pay an intent
         * @description Settles the signed payment, judged against the requirements of the selected route. A payment of another payer is refused. Send the same request again after a lost answer: it joins the settlement, and is answered its result.
         *
         *     A refused payment answers 400 `PAYMENT_REFUSED` with `errorReason`: this facilitator sent nothing, and the payer may sign again. Under `exact-direct` the payer has sent the funds itself: correct the proof, and do not pay again. A 200 says what became of a payment that was sent: `completed`, `executing` (its outcome is not known yet: do not pay again) or `failed`.
         */
        post: operations["executeIntent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intent/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an intent
         * @description Possible until a payment is executed; after that, the payment decides. A transfer of `exact-direct` that was on chain before still executes the intent. An intent that was created without an API key is cancelled with its `intentToken` only. Idempotent.
         */
        post: operations["cancelIntent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intent/{id}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compute the routes again
         * @description With new balances and fees, valid for another 5 minutes, but never longer than the intent. A selected route that is no longer available is selected no more: the intent is `pending` again. A selected route of `exact-direct` stays, because the payer may have paid.
         */
        post: operations["refreshIntent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/captures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Capture a hold
         * @description Pays a part or all of a hold of `auth-capture` to its recipient, before `captureDeadline`. A repeated `Idempotency-Key` is the same request, however late: it is answered what became of it, and moves nothing twice. A 400 `PAYMENT_REFUSED` means that nothing was sent; its message states what can be captured and refunded now. Of two requests that start from the same state one is refused: ask again under a new key.
         */
        post: operations["capture"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/voids": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Void a hold
         * @description Returns what was not captured to the payer. Idempotent: a hold is voided once, under any key and without one.
         */
        post: operations["voidHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refund what was captured
         * @description Returns a part or all of what was captured, before `refundDeadline`, where the operator pays refunds of the recipient. A repeated `Idempotency-Key` is the same request, however late: it is answered what became of it, and moves nothing twice. A 400 `PAYMENT_REFUSED` means that nothing was sent; its message states what can be captured and refunded now. Of two requests that start from the same state one is refused: ask again under a new key.
         */
        post: operations["refundHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/{network}/{paymentInfoHash}/deadline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * State what is done at the deadline of a hold
         * @description What is done shortly before `captureDeadline`, unless a request does it before. It can be changed until it begins: then 409 `REQUEST_IN_PROGRESS`.
         */
        post: operations["setAtDeadline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hold-defaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what is done at the deadlines of my new holds
         * @description Until the account states it, nothing is done at their deadlines.
         */
        get: operations["getHoldDefaults"];
        put?: never;
        /**
         * State what is done at the deadlines of my new holds
         * @description For payments that are held from now on. Those that are held already keep what they have.
         */
        post: operations["setHoldDefaults"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/{network}/{paymentInfoHash}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one of my holds
         * @description Its terms, what became of it as the chain shows it now, and its settlements.
         */
        get: operations["getHeldPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my holds
         * @description Newest first, each as of the last look at the chain.
         */
        get: operations["listHeldPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/discovery/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List resources that were paid for
         * @description Resources whose settled payments declared the extension `bazaar`. Filters apply to one of the `accepts` together. Ordered by distinct payers and recency: Unix time of the last settlement plus 7 days for every doubling of the payers. Nothing that a resource says of itself influences its place.
         *
         *     Read on with `nextCursor`: pages then neither repeat nor skip what does not change its place. `offset` reaches 10,000 resources.
         */
        get: operations["listResources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/discovery/resources/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One listed resource
         * @description With its whole declaration, as declared: treat it as untrusted text.
         */
        get: operations["getResource"];
        put?: never;
        post?: never;
        /**
         * Unlist a resource that you own
         * @description Settlements do not list it again; `relist` does. By the API key of the account that owns the listing, or by a signature of one of its recipients over the lines `quittance discovery: unlist` (or `relist`), `Resource: <id>`, `URL: <resource>`, for MCP `Tool: <toolName>`, and `Issued At: <issuedAt>`, joined by line feeds. Idempotent.
         */
        delete: operations["unlistResource"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/discovery/resources/{id}/relist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List a resource again that you unlisted
         * @description By the API key of the account that owns the listing, or by a signature of one of its recipients over the lines `quittance discovery: unlist` (or `relist`), `Resource: <id>`, `URL: <resource>`, for MCP `Tool: <toolName>`, and `Issued At: <issuedAt>`, joined by line feeds. Idempotent.
         */
        post: operations["relistResource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/discovery/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search resources by words
         * @description All words must occur in host, path, service name, tags, description or tool name. Ordered by distinct payers and recency: Unix time of the last settlement plus 7 days for every doubling of the payers. Nothing that a resource says of itself influences its place.
         */
        get: operations["searchResources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/discovery/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain rule by rule whether a declaration would be listed
         * @description Takes a bare declaration `{ info, schema, routeTemplate?, resource? }`, `{ resource, extensions }`, a 402 answer of either version, a payment payload or the body of a settle request. Nothing is stored.
         */
        post: operations["validateDeclaration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/siwx/nonce": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a nonce for a wallet sign-in
         * @description Stores nothing: the nonce itself holds its expiry and who issued it. With `uri` and at least one chain the response has the complete declarations of the extensions `siwx` (t402) and `sign-in-with-x` (x402) for a 402 response. With `domain` or `uri` the nonce is valid for that domain only.
         */
        post: operations["issueSignInNonce"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/siwx/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a wallet sign-in
         * @description Checks the message of the header `SIGN-IN-WITH-X` (x402) or `X-T402-SIWx` (t402) against what the resource server expects, then the signature, and then uses up the nonce: a proof is accepted once, by all instances together. Every refusal is 401 with a `reason`; answer your client with 401.
         *
         *     Wallets of EVM chains (keys, and contracts on networks of this instance), Solana and Stellar are verified.
         */
        post: operations["verifySignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Payers with fixed results
         * @description Every fixed payer with what /verify and /settle answer to its payments, and a body to send. Nonces are new in each answer, so that bodies of two callers are two payments.
         */
        get: operations["listSandboxAddresses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/payments/{payer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A payment that is ready to send
         * @description Of a fixed payer, by its name or its address on the network, of the payer of a scenario, or of any address; with a new nonce each time. It is unsigned: /verify refuses it for a payer that the sandbox does not know.
         */
        get: operations["createSandboxPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/scenarios": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a payer that behaves as scripted
         * @description Returns a new payer and a body with its payment. What becomes of the payment follows the script, on a clock of the scenario that stands still until `POST /sandbox/clock/advance` moves it. A scenario lives for an hour. An address and an account have a share of the live ones; beyond that 429 with `Retry-After`.
         *
         *     Without `settle` the payment is confirmed at once; with `pendingSeconds` /settle answers `settlement_pending`. With `reorg` the block of the payment is orphaned later. With `webhook` the answer has an inbox: set its URL as webhook of your API key.
         */
        post: operations["createScenario"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/scenarios/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a scenario, with a new body to send
         * @description Its payer, its clock, and another payment of its payer.
         */
        get: operations["getScenario"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/clock/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Advance the clock of a scenario
         * @description Settlements, reorgs and webhook retries that become due are done when the answer arrives: the next `GET /v1/settlements/{id}` and `GET /sandbox/inbox/{id}` show them.
         */
        post: operations["advanceSandboxClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make an inbox for webhooks
         * @description Its URL works as `webhookUrl` of any API key of this sandbox; deliveries stay in the service. An inbox lives for a day.
         */
        post: operations["createSandboxInbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sandbox/inbox/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what an inbox received
         * @description Each webhook with its headers, so that signatures can be verified, and what the inbox answered.
         */
        get: operations["readSandboxInbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document as YAML
         * @description OpenAPI 3.1 description of this API, generated from its source code.
         */
        get: operations["getOpenApiYaml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document as JSON
         * @description OpenAPI 3.1 description of this API, generated from its source code.
         */
        get: operations["getOpenApiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "settlement.confirmed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.confirmed
         * @description The payment is proven: the recipient has the funds.
         */
        post: operations["settlementConfirmed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.failed
         * @description The payment failed permanently: no funds moved, and by this settlement none will.
         */
        post: operations["settlementFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.pending
         * @description A settlement was left open; at most once per settlement.
         */
        post: operations["settlementPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.reorged": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.reorged
         * @description The chain dropped the block of the payment; it is pending again.
         */
        post: operations["settlementReorged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.created
         * @description An intent was created.
         */
        post: operations["intentCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.routed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.routed
         * @description A route was selected, or a payment ended before anything was sent.
         */
        post: operations["intentRouted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.executing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.executing
         * @description A payment of the intent is about to be sent.
         */
        post: operations["intentExecuting"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.completed
         * @description The payment is proven: the payee has the funds.
         */
        post: operations["intentCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.failed
         * @description The payment failed permanently: no funds moved.
         */
        post: operations["intentFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.expired
         * @description Its time was over before it was paid.
         */
        post: operations["intentExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "intent.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * intent.cancelled
         * @description It was cancelled.
         */
        post: operations["intentCancelled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "channel.withdrawal_requested": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * channel.withdrawal_requested
         * @description The payer withdraws from a channel; once for each withdrawal.
         */
        post: operations["channelWithdrawalRequested"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "channel.near_cap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * channel.near_cap
         * @description The ceiling has reached 90 % of what the channel holds; once for each balance.
         */
        post: operations["channelNearCap"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "channel.unclaimable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * channel.unclaimable
         * @description The voucher of a channel was refused too often, and is set aside.
         */
        post: operations["channelUnclaimable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.pending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.pending
         * @description The block of a hold was dropped; it is sent again.
         */
        post: operations["holdPending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.held": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.held
         * @description The payment is held, and can be captured.
         */
        post: operations["holdHeld"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.captured": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.captured
         * @description All of it was captured.
         */
        post: operations["holdCaptured"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.voided": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.voided
         * @description What was not captured was returned to the payer.
         */
        post: operations["holdVoided"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.expiring": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.expiring
         * @description The capture deadline is near; at most once per hold.
         */
        post: operations["holdExpiring"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.deadline_action_failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.deadline_action_failed
         * @description What `atDeadline` asks for has failed twice in a row; it is tried again until the deadline.
         */
        post: operations["holdDeadlineActionFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.expired
         * @description The capture deadline has passed: the payer can take back what is left.
         */
        post: operations["holdExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.reclaimed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.reclaimed
         * @description The payer took back what was left.
         */
        post: operations["holdReclaimed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "hold.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * hold.failed
         * @description The payment was never held.
         */
        post: operations["holdFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.opened
         * @description The payment of a stream is held.
         */
        post: operations["streamOpened"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.paused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.paused
         * @description Updates are refused until it is resumed.
         */
        post: operations["streamPaused"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.resumed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.resumed
         * @description Updates are taken again.
         */
        post: operations["streamResumed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.closed
         * @description The final amount is settled.
         */
        post: operations["streamClosed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.failed
         * @description The stream was not settled, and never will be.
         */
        post: operations["streamFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.expired
         * @description The time of the stream passed and nothing was used.
         */
        post: operations["streamExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.insufficient_funds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.insufficient_funds
         * @description What was used could not be settled now; see `risk`.
         */
        post: operations["streamInsufficientFunds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stream.funds_restored": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * stream.funds_restored
         * @description What was used could be settled again.
         */
        post: operations["streamFundsRestored"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description Settlements by the time at which they were requested */
        AccountActivity: {
            hours: number;
            /** @description False: there are more than 10,000 settlements, and only the newest are counted */
            isComplete: boolean;
            confirmed: number;
            failed: number;
            pending: number;
            /** @description Median time from the request to the proof, of confirmed settlements; null without one */
            medianSeconds: number | null;
            networks: {
                network: string;
                confirmed: number;
                failed: number;
                pending: number;
                /** @description Median time from the request to the proof, of confirmed settlements; null without one */
                medianSeconds: number | null;
            }[];
            /** @description What was settled, in smallest units */
            amounts: {
                network: string;
                asset: string;
                amount: string;
            }[];
            /** @description Hours (UTC) with settlements, oldest first */
            buckets: {
                /** Format: date-time */
                at: string;
                network: string;
                confirmed: number;
                failed: number;
                pending: number;
            }[];
        };
        AccountSettlement: components["schemas"]["Settlement"] & {
            /**
             * @description Fee of the settlement at the tier's fee rate: a whole number of smallest units, rounded up; `0` unless confirmed. Not deducted from the payment
             * @example 10
             */
            fee: string;
        };
        AccountSettlementPage: {
            /** @description Newest first */
            settlements: components["schemas"]["AccountSettlement"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        AtDeadline: {
            /**
             * @description What is done shortly before `captureDeadline`: `nothing`, `capture` all that can still be captured, or `void` it
             * @enum {string}
             */
            atDeadline: "nothing" | "capture" | "void";
        };
        CallerCount: {
            /** @description Null: without a valid key */
            accountId: string | null;
            /** @description Address of a caller without a key: IPv4, or IPv6 /64; null for accounts */
            network: string | null;
            requests: number;
            /** @description Errors (4xx, 5xx), and payments that were refused */
            refused: number;
            /** @description Requests to settle */
            settles: number;
            /** @description Time in which its requests were in progress, summed */
            busyMs: number;
            /** @description Of refusals, the most frequent first: reasons of payments, or codes of errors */
            reasons: {
                reason: string;
                count: number;
            }[];
        };
        CallerReport: {
            /**
             * Format: date-time
             * @description Up to an hour ago; later after a start
             */
            from: string;
            /** Format: date-time */
            to: string;
            mostRequests: components["schemas"]["CallerCount"][];
            mostRefused: components["schemas"]["CallerCount"][];
            mostBusy: components["schemas"]["CallerCount"][];
            /** @description False: there were more callers than are kept. The rarest are then left out, and counts may be a little low */
            isComplete: boolean;
        };
        CaptureRequest: components["schemas"]["RefundRequest"] & {
            /** @description The part of it that `feeReceiver` gets: an amount, under version 1.0 of the escrow basis points. Default: the lowest that the payment's terms allow */
            fee?: string;
            /** @description Default: the recipient that the payment's terms name, or `payTo` where they name none */
            feeReceiver?: string;
            /** @description Whether what is left is returned to the payer after the capture; default: false */
            voidRemainder?: boolean;
        };
        ChangedIntent: {
            intent: components["schemas"]["Intent"];
        };
        Channel: {
            /** @description CAIP-2 identifier */
            network: string;
            channelId: string;
            /** @description What the id is the hash of */
            config: Record<string, unknown>;
            payer: string;
            receiver: string;
            asset: string;
            /** @description The highest that the payer signed, in smallest units */
            ceiling: string;
            /** @description What was charged for sure: the highest ceiling less price of all vouchers, in smallest units */
            charged: string;
            /** @description Deposits less refunds and withdrawals, as last seen, in smallest units */
            balance?: string;
            /** @description What was claimed, as last seen, in smallest units */
            totalClaimed: string;
            /** @description What is claimed next: charged, backed and not claimed, in smallest units */
            claimable: string;
            /** @description What the payer withdraws, as last seen, in smallest units */
            withdrawal: string;
            /** @description Unix seconds; 0: no withdrawal is pending */
            withdrawRequestedAt: number;
            /** @description When the withdrawal can be executed */
            withdrawableAt?: number;
            /** @description Whether the voucher was refused too often; a higher one is claimed again */
            isUnclaimable: boolean;
            /** @description The claim that is under way, or was last: for GET /v1/settlements/{id} */
            settlementId?: string;
            /**
             * Format: date-time
             * @description When its first voucher was kept
             */
            boundAt: string;
            /**
             * Format: date-time
             * @description When a voucher was last verified; a lower or repeated one counts an hour later
             */
            verifiedAt: string;
            /**
             * Format: date-time
             * @description When the chain was looked at
             */
            seenAt?: string;
        };
        ChannelEvent: {
            /** @description The header `webhook-id` */
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["Channel"] & {
                /** @description Why the voucher cannot be claimed */
                errorReason?: string;
            };
        };
        ChannelPage: {
            /** @description Newest first */
            channels: components["schemas"]["Channel"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        /** @description What every claim on a payment to the recipient must show; at least one is true */
        ClaimDemands: {
            /** @description The transfer must carry the first 32 hex digits of the SHA-256 of `extra.memoPreimage`, which the requirements must name; `POST /accepts` issues it with `extra.memo` */
            memo?: boolean;
            /** @description `payload.claim`, signed by the payer, as under `extra.requireSignedClaim` */
            signedClaim?: boolean;
            /** @description The requirements must name `extra.offer` and the amount as `POST /accepts` issued them to this project, and the transfer must be of exactly that amount */
            uniqueAmount?: boolean;
            /** @description Only API keys of this project can claim */
            ownKey?: boolean;
        };
        ClockAdvance: {
            /** Format: uuid */
            scenarioId: string;
            seconds: number;
        };
        /** @description Entries that this instance cannot settle are left out */
        CompletedRequirements: {
            payVersion: number;
            x402Version: number;
            t402Version: number;
            error?: string;
            resource: {
                url: string;
            };
            accepts: ({
                scheme: string;
                /** @description As the caller named it */
                network: string;
                amount: string;
                /** @description Scheme `upto`: the same as the amount */
                maxAmount?: string;
                /** @description Scheme `upto`: the least that may be settled */
                minAmount?: string;
                asset: string;
                payTo: string;
                maxTimeoutSeconds: number;
                extra: Record<string, unknown>;
            } | components["schemas"]["RequirementsV1"])[];
        };
        CreatedIntent: components["schemas"]["IntentWithRoutes"] & {
            /**
             * @description Only without an API key, and only once: cancels the intent. Keep it secret
             * @example qtn_intent_0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
             */
            intentToken?: string;
        };
        CreditBreakdown: {
            /** @description From the volume, on a logarithmic scale */
            volumeScore: number;
            /** @description From the number of payments, on a logarithmic scale */
            frequencyScore: number;
            /** @description From the share of payments that did not fail */
            reliabilityScore: number;
            /** @description From the days since the first payment */
            ageScore: number;
        };
        CreditRanking: {
            readonly wallets: {
                /** @description Address in its normal spelling: hex in lower case */
                wallet: string;
                /** @description CAIP-2 namespace of the networks of the wallet */
                namespace: string;
                score: number;
                breakdown: components["schemas"]["CreditBreakdown"];
                stats: components["schemas"]["CreditStatistics"];
                rank: number;
            }[];
        };
        CreditScore: {
            /** @description Address in its normal spelling: hex in lower case */
            wallet: string;
            /** @description CAIP-2 namespace of the networks of the wallet */
            namespace: string;
            score: number;
            breakdown: components["schemas"]["CreditBreakdown"];
            stats: components["schemas"]["CreditStatistics"];
            /** @description How each part came about, in sentences */
            readonly explanation: string[];
            /** @description What would raise the score */
            readonly improvements: {
                /** @enum {string} */
                part: "volumeScore" | "frequencyScore" | "reliabilityScore" | "ageScore";
                /** @description What the part would be */
                points: number;
                action: string;
            }[];
        };
        CreditStatistics: {
            /** @description Payments that count */
            paymentCount: number;
            /** @description 0 without payments */
            successRate: number;
            /** @description Of the payments that count, in millionths of a US dollar: the smallest unit of USDC and USDT */
            totalVolume: string;
            /** @description Whole days since the first payment that counts */
            accountAgeDays: number;
            /** @description Wallets that received a payment that counts */
            payeeCount: number;
            /** @description Authorizations that failed by the payer's fault */
            failureCount: number;
            /** @description Payments that do not count because what they paid came back, directly or through one other wallet */
            cyclePaymentCount: number;
            /** @description What came back, and does not count, in millionths of a US dollar */
            returnedVolume: string;
        };
        DeclarationReport: {
            wouldBeListed: boolean;
            /** @description Version of the declaration */
            version: number;
            /** @description First rule that rejects it */
            rule?: string;
            reason?: string;
            /** @description What it would be listed under */
            key?: {
                url: string;
                toolName?: string;
            };
            /** @enum {string} */
            type?: "http" | "mcp";
            rules: {
                rule: string;
                /** @enum {string} */
                status: "passed" | "failed" | "not_checked";
                /**
                 * @description `drops`: the part is left out
                 * @enum {string}
                 */
                effect: "rejects" | "drops";
                sentence: string;
                problem?: string;
            }[];
        };
        /** @enum {string} */
        DifferenceKind: "payment_missing" | "payment_differs" | "payment_unrecorded" | "payment_duplicated" | "authorization_differs" | "settlement_missing" | "transaction_unrecorded" | "event_missing" | "event_differs" | "event_undelivered" | "quota_uncounted" | "quota_differs" | "fee_missing" | "fee_differs" | "totals_differ" | "days_differ" | "open_list_differs" | "unfinal_list_differs" | "credit_differs" | "stream_differs" | "intent_differs" | "not_compared";
        DiscoveredResource: components["schemas"]["ResourceSummary"] & {
            /** @description Origin and path; hosts in ASCII, so that look-alikes show */
            resource: string;
            /** @description Protocol version, 1 or 2 */
            x402Version: number;
            /** @description Protocol version, 1 or 2 */
            t402Version: number;
            /** @description Latest first */
            accepts: components["schemas"]["ListedTerms"][];
            /**
             * Format: date-time
             * @description Last settlement
             */
            lastUpdated: string;
            description?: string;
            mimeType?: string;
            serviceName?: string;
            tags?: string[];
            iconUrl?: string;
            /** @description `bazaar` as declared, untrusted; absent where the page would exceed 512 kB (`partialResults`) */
            extensions?: Record<string, unknown>;
            /** @description That count in the order */
            distinctPayers: number;
        };
        /** @description Body of every response outside 2xx */
        Error: {
            /**
             * @description Stable, machine-readable
             * @enum {string}
             */
            code: "INVALID_REQUEST" | "INVALID_IDEMPOTENCY_KEY" | "INVALID_AMOUNT" | "AMOUNT_EXCEEDED" | "INVALID_VOUCHER" | "PAYMENT_REFUSED" | "UNAUTHORIZED" | "SIGN_IN_FAILED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "REQUEST_IN_PROGRESS" | "PAYLOAD_MISMATCH" | "PREVIOUS_REQUEST_FAILED" | "STREAM_NOT_ACTIVE" | "INVALID_SEQUENCE" | "INTENT_NOT_PENDING" | "NO_ROUTE_SELECTED" | "STREAM_EXPIRED" | "INTENT_EXPIRED" | "ROUTE_EXPIRED" | "REQUEST_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "INTERNAL_ERROR" | "VERIFICATION_FAILED" | "SETTLEMENT_FAILED" | "IDEMPOTENCY_UNAVAILABLE" | "SERVICE_UNAVAILABLE";
            /** @description Human-readable; the wording may change */
            message: string;
            errorReason?: components["schemas"]["Reason"];
            /**
             * @description With `SIGN_IN_FAILED`: why the wallet sign-in is refused
             * @enum {string}
             */
            reason?: "siwx_malformed" | "siwx_too_large" | "siwx_field_invalid" | "siwx_version_unsupported" | "siwx_domain_mismatch" | "siwx_uri_mismatch" | "siwx_resources_mismatch" | "siwx_chain_mismatch" | "siwx_chain_unsupported" | "siwx_scheme_mismatch" | "siwx_wallet_unverifiable" | "siwx_address_invalid" | "siwx_issued_in_future" | "siwx_too_old" | "siwx_expired" | "siwx_not_yet_valid" | "siwx_nonce_mismatch" | "siwx_nonce_unknown" | "siwx_nonce_used" | "siwx_signature_invalid";
            operationalCode?: components["schemas"]["OperationalCode"];
            /** @description Seconds to wait before a retry; equals the header `Retry-After` */
            retryAfter?: number;
        };
        ErrorCodeEntry: {
            code: string;
            status: number;
            /** @description When it happens */
            explanation: string;
            /** @description What to do */
            remedy: string;
        };
        EventPage: {
            /** @description Oldest first; each is the body of a webhook message */
            events: {
                /** @description The header `webhook-id` of its deliveries */
                id: string;
                /** @example settlement.confirmed */
                type: string;
                /** Format: date-time */
                timestamp: string;
                /** @description The settlement, stream or intent at the time of the event */
                data: unknown;
            }[];
            /** @description For the next request, also if there were no events */
            cursor: string;
            /** @description Whether more events are available now */
            hasMore: boolean;
        };
        /** @description A transfer that the client executed itself. The proof of scheme `exact-direct` on NEAR, Aptos, Tezos, Polkadot, Stacks and Cosmos. */
        ExactDirectProof: {
            /** @description Hash of the transaction; required unless one of its aliases names it */
            txHash?: string;
            /** @description Accepted in place of `txHash` */
            opHash?: string;
            /** @description Accepted in place of `txHash` */
            extrinsicHash?: string;
            /** @description Accepted in place of `txHash` */
            txId?: string;
            /** @description The payer */
            from: string;
            /** @description The recipient; equals `payTo` */
            to: string;
            /** @description Smallest units. Only the amount that the chain reports counts */
            amount: string | number;
            /** @description Signature of the payer over the payment, where the recipient requires signed claims */
            claim?: {
                signature: string;
                /** @description Where the address does not contain it */
                publicKey?: string;
            };
        };
        /** @description An EIP-3009 `TransferWithAuthorization`, signed by the payer. The proof of scheme `exact` on EVM. */
        ExactEvmProof: {
            /** @description EIP-712 signature in hex: 65 bytes for an EOA, or a contract wallet signature (EIP-1271, EIP-6492) */
            signature: string;
            authorization: {
                /**
                 * @description The payer
                 * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                 */
                from: string;
                /**
                 * @description The recipient; equals `payTo`
                 * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                 */
                to: string;
                /** @description Smallest units; at least `amount`; the full value is transferred */
                value: string;
                /** @description Unix time in seconds, decimal digits */
                validAfter: string;
                /** @description Unix time in seconds, decimal digits */
                validBefore: string;
                /** @description 32 random bytes in hex, unused by this payer */
                nonce: string;
            };
        };
        /** @description A partially signed transaction. The proof of scheme `exact` on Solana. */
        ExactSolanaProof: {
            /** @description A transaction in base64, signed by the payer: compute-unit limit and price, one TransferChecked of the amount to the associated token account of `payTo`, and optionally a memo. Its fee payer is the `extra.feePayer` of `/supported`; the fee payer signature is empty. */
            transaction: string;
        };
        /** @description A signed message to the payer’s wallet. A proof of scheme `exact` on TON. */
        ExactTonProof: {
            /** @description The external message to the payer’s wallet in base64, or its signed body alone, with one jetton transfer; the payer’s wallet pays the fees */
            signedBoc: string;
            /** @description A copy of the message contents. from, to, jettonMaster and jettonAmount must match the message, which is authoritative; other fields are ignored */
            authorization: Record<string, unknown>;
        };
        /** @description A signed TRC-20 transfer. The proof of scheme `exact` on TRON. */
        ExactTronProof: {
            /** @description The whole signed transaction in hex protobuf, or the JSON of TronWeb signers (`raw_data_hex` and `signature` are read): one TriggerSmartContract that calls the token’s transfer */
            signedTransaction: string | Record<string, unknown>;
            /** @description A copy of the transaction contents. from, to, contractAddress and amount must match the transaction, which is authoritative; other fields are ignored */
            authorization: Record<string, unknown>;
        };
        ExecutedIntent: {
            intent: components["schemas"]["Intent"];
            /** @description `completed`: paid. `executing`: sent, ask again. `failed`: the payment failed on chain */
            status: components["schemas"]["IntentStatus"];
            /** @description Empty while nothing was sent, or if it needed none */
            transaction: string;
            /** @description The same as a list */
            txHashes: string[];
            message: string;
        };
        /** @description The body of /verify. Every form is accepted, and what is wrong with it explained */
        ExplainRequest: Record<string, unknown>;
        ExplainedFact: {
            fact: components["schemas"]["FactName"];
            title: string;
            value: string;
        };
        ExplainedRule: {
            rule: components["schemas"]["RuleName"];
            /** @description What is true where the rule holds */
            title: string;
            /**
             * @description `skipped`: it cannot be decided while another rule is broken. `unknown`: the chain or the database did not answer
             * @enum {string}
             */
            state: "passed" | "failed" | "skipped" | "unknown";
            /**
             * @description Where in the request
             * @example paymentPayload.payload.authorization.to
             */
            path?: string;
            /** @description What is there: escaped to ASCII and cut to 100 characters */
            found?: string;
            /** @description What must be there */
            expected?: string;
            /** @description Further mistakes that break the same rule, at most 20 */
            problems?: {
                /**
                 * @description Where in the request
                 * @example paymentPayload.payload.authorization.to
                 */
                path?: string;
                /** @description What is there: escaped to ASCII and cut to 100 characters */
                found?: string;
                /** @description What must be there */
                expected?: string;
            }[];
            /** @description What is wrong, as a sentence */
            message?: string;
            /** @description How to mend it */
            remedy?: string;
            reason?: components["schemas"]["Reason"];
            /**
             * @description Code of the error that /verify answers in place of a verdict
             * @example INVALID_REQUEST
             */
            errorCode?: string;
            /** @description The rule for which this one was skipped */
            blockedBy?: string;
        };
        Explanation: {
            /**
             * @description `valid` and `invalid`: what /verify would answer now, whatever is paused and whatever quota is left. `unknown`: it would answer with an error that can be retried
             * @enum {string}
             */
            verdict: "valid" | "invalid" | "unknown";
            reason?: components["schemas"]["Reason"];
            /** @description In place of a reason where /verify answers with an error: `INVALID_REQUEST` and the like */
            errorCode?: string;
            scheme?: string;
            /** @description CAIP-2 identifier */
            network?: string;
            payer?: string;
            /** @description In the order in which /verify checks them; the first one that failed is the reason. Those that were not reached come last */
            rules: components["schemas"]["ExplainedRule"][];
            /** @description What helps to mend a payment, as far as it is known */
            facts: components["schemas"]["ExplainedFact"][];
            /**
             * @description Only of a sandbox: no payment is real
             * @constant
             */
            sandbox?: true;
        };
        /**
         * @description Stable name of the fact
         * @enum {string}
         */
        FactName: "payer_balance" | "payer_allowance" | "authorization_state" | "token_name" | "token_version" | "required_amount" | "authorized_amount" | "service_time";
        /** @description The same authorization with its fields beside the signature, and times as numbers. */
        FlatEvmProof: {
            /** @description EIP-712 signature in hex: 65 bytes for an EOA, or a contract wallet signature (EIP-1271, EIP-6492) */
            signature: string;
            /** @example 0x18f77dd01186556F1F745E7847A4686421dEE072 */
            from: string;
            /** @example 0x18f77dd01186556F1F745E7847A4686421dEE072 */
            to: string;
            value: string | number;
            validAfter: number | string;
            validBefore: number | string;
            /** @description 32 random bytes in hex, unused by this payer */
            nonce: string;
        };
        HeldPayment: {
            /** @description CAIP-2 identifier */
            network: string;
            paymentInfoHash: string;
            /**
             * @description `pending`: not held yet; `held`: can be captured; `captured`: all of it was; `voided`: what was not captured was returned; `expired`: the capture deadline has passed, and the payer can take back what is left; `reclaimed`: it did; `failed`: it was never held
             * @enum {string}
             */
            status: "pending" | "held" | "captured" | "voided" | "expired" | "reclaimed" | "failed";
            payer: string;
            payTo: string;
            asset: string;
            /** @description What was held at first, in smallest units */
            amount: string;
            /** @description What can still be captured, in smallest units */
            capturableAmount: string;
            /** @description What was captured and not refunded, in smallest units */
            refundableAmount: string;
            /** @description What was captured, with fees, in smallest units */
            capturedAmount: string;
            /** @description What a void returned to the payer, in smallest units */
            voidedAmount: string;
            /** @description What the payer took back, in smallest units */
            reclaimedAmount: string;
            /** @description What was refunded, in smallest units */
            refundedAmount: string;
            /** Format: date-time */
            captureDeadline: string;
            /**
             * @description What is done shortly before `captureDeadline`: `nothing`, `capture` all that can still be captured, or `void` it
             * @enum {string}
             */
            atDeadline: "nothing" | "capture" | "void";
            /** Format: date-time */
            refundDeadline: string;
            /** Format: date-time */
            createdAt: string;
        };
        HeldPaymentDetails: components["schemas"]["HeldPayment"] & {
            /** @description Oldest first; those that failed without a success are left out */
            settlements: {
                /** @description For GET /v1/settlements/{id} */
                id: string;
                /** @enum {string} */
                type: "hold" | "capture" | "void" | "refund";
                /** @enum {string} */
                status: "confirmed" | "failed" | "pending";
                /** @description What it holds, captures or refunds; 0 for a void, in smallest units */
                amount: string;
                /** @description Empty until something is sent */
                transaction: string;
                /** @description Whether `atDeadline` asked for it, and no request */
                automatic: boolean;
                /** Format: date-time */
                createdAt: string;
            }[];
        };
        HeldPaymentPage: {
            /** @description Newest first, as of the last look at the chain */
            payments: components["schemas"]["HeldPayment"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        HoldEvent: {
            /** @description The header `webhook-id` */
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["HeldPayment"] & {
                /** @description In `hold.captured` and `hold.voided`: whether `atDeadline` asked for it, and no request */
                automatic?: boolean;
                /** @description In `hold.deadline_action_failed`: why, as a reason */
                errorReason?: string;
                /** @description In `hold.deadline_action_failed`: why */
                errorMessage?: string;
            };
        };
        Intent: {
            id: string;
            status: components["schemas"]["IntentStatus"];
            payer: string | {
                [key: string]: string;
            };
            payee: string | {
                [key: string]: string;
            };
            /** @description As asked for */
            amount: string;
            asset: string;
            decimals?: number;
            sourceNetworks?: string[];
            targetNetwork?: string;
            metadata?: Record<string, unknown>;
            /** @description Absent until one is selected */
            selectedRoute?: components["schemas"]["IntentRoute"];
            paymentRequirements?: components["schemas"]["IntentRequirements"];
            /** @description For `GET /v1/settlements/{id}`; absent until it executes */
            settlementId?: string;
            /** @description Of the settlement; empty if it needed none. Absent until completed or failed */
            transaction?: string;
            /** @description Smallest units that the payee received; absent until completed */
            settledAmount?: string;
            errorReason?: components["schemas"]["Reason"];
            /** @description The reason as a sentence */
            errorMessage?: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When it ended
             */
            closedAt?: string;
        };
        IntentEvent: {
            /** @description The header `webhook-id` */
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["Intent"];
        };
        IntentExecution: {
            paymentPayload: components["schemas"]["PaymentPayload"];
            /** @description Selects this route first; default: the selected one */
            routeId?: string;
        };
        IntentPage: {
            /** @description Newest first */
            intents: components["schemas"]["Intent"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        IntentRequest: {
            /**
             * @description Who pays: an address, or an object from network or namespace (`eip155`) to address
             * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
             */
            payer: string | {
                [key: string]: string;
            };
            /**
             * @description Who is paid: an address, or an object from network or namespace (`eip155`) to address
             * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
             */
            payee: string | {
                [key: string]: string;
            };
            /**
             * @description Smallest units; of a symbol with 6 decimals, unless `decimals` says otherwise. Converted exactly for tokens with other decimals
             * @example 10000
             */
            amount: string;
            /**
             * @description A token's symbol (`USDC`), address, name on its chain, or CAIP-19 identifier
             * @example USDC
             */
            asset: string;
            /** @description Decimals of `amount`; default 6 for a symbol, those of the token otherwise */
            decimals?: number;
            /** @description Networks on which the payer may pay; default: all */
            sourceNetworks?: string[];
            /** @description Network on which the payee is paid; without bridges the payer pays there too */
            targetNetwork?: string;
            /**
             * @description Seconds; default 300
             * @default 300
             * @example 300
             */
            expiresIn: number;
            /** @description Yours: kept, and repeated in answers and events */
            metadata?: Record<string, unknown>;
        };
        /** @description What the payer signs, as `/accepts` completes it */
        IntentRequirements: {
            scheme: string;
            network: string;
            amount: string;
            asset: string;
            payTo: string;
            maxTimeoutSeconds: number;
            extra: Record<string, unknown>;
        };
        IntentRoute: {
            /** @description The same route keeps its id when it is computed again */
            id: string;
            scheme: string;
            network: string;
            asset: string;
            /** @description Null if it is not known */
            symbol: string | null;
            decimals: number | null;
            /** @description Smallest units of the asset */
            amount: string;
            payer: string;
            payTo: string;
            /** @description The payer's, in smallest units; null where this facilitator cannot read balances */
            balance: string | null;
            /** @description Estimate of what one settlement costs at the current price; null if unknown */
            fee: components["schemas"]["SettlementFee"] | null;
            /** @description Usual time from execute until the outcome is known; null if unknown */
            estimatedSeconds: number | null;
            /** @description 0 to 1: cheap for the payer, fast, and covered by the balance */
            score: number;
            /** Format: date-time */
            validUntil: string;
        };
        /** @enum {string} */
        IntentStatus: "pending" | "routed" | "executing" | "completed" | "failed" | "expired" | "cancelled";
        IntentWithRoutes: {
            intent: components["schemas"]["Intent"];
            /** @description At most 100, the best first */
            availableRoutes: components["schemas"]["IntentRoute"][];
            /** @description The first; null without routes */
            recommendedRoute: components["schemas"]["IntentRoute"] | null;
            /** @description Why other networks are no routes */
            unavailable: components["schemas"]["UnavailableRoute"][];
        };
        /** @description Terms of a settled payment for the resource */
        ListedTerms: {
            scheme: string;
            /** @description CAIP-2 identifier */
            network: string;
            /** @description Smallest units; scheme `upto`: the maximum */
            amount: string;
            /** @description Version 1: the same as `amount` */
            maxAmountRequired?: string;
            asset: string;
            payTo: string;
            maxTimeoutSeconds: number;
            extra: Record<string, unknown>;
        };
        ListingChanged: {
            id: string;
            resource: string;
            /** @enum {string} */
            listing: "listed" | "unlisted" | "stale";
        };
        MovedHold: {
            /**
             * @description `pending`: sent, outcome not known yet; send the same request again under the same `Idempotency-Key`
             * @enum {string}
             */
            status: "confirmed" | "pending" | "failed";
            /** @description What was asked for; absent for a void, in smallest units */
            amount?: string;
            /** @description For GET /v1/settlements/{id} */
            settlementId?: string;
            /** @description Empty when nothing was sent */
            transaction: string;
            errorReason?: components["schemas"]["Reason"];
            errorMessage?: string;
            operationalCode?: components["schemas"]["OperationalCode"];
            /** @description With `voidRemainder`: what became of the void, once the capture is confirmed */
            void?: {
                /**
                 * @description `pending`: sent, outcome not known yet; send the same request again under the same `Idempotency-Key`
                 * @enum {string}
                 */
                status: "confirmed" | "pending" | "failed";
                /** @description What was asked for; absent for a void, in smallest units */
                amount?: string;
                /** @description For GET /v1/settlements/{id} */
                settlementId?: string;
                /** @description Empty when nothing was sent */
                transaction: string;
                errorReason?: components["schemas"]["Reason"];
                errorMessage?: string;
                operationalCode?: components["schemas"]["OperationalCode"];
            };
            /** @description The payment afterwards; absent while it cannot be read */
            payment?: components["schemas"]["HeldPaymentDetails"];
        };
        NightlyReconciliation: {
            /**
             * Format: date
             * @description The last of the two days that were compared
             */
            day: string;
            /** Format: date-time */
            finishedAt: string;
            settlements: number;
            /** @description Settlements without an outcome yet */
            open: number;
            /** @description Settlements that no node could prove */
            unchecked: number;
            /** @description Events that their webhook had not accepted yet */
            waiting: number;
            differences: number;
            /** @description The differences by kind */
            counts: components["schemas"]["ReconciliationCount"][];
            /** @description The first ten of each kind */
            listed: components["schemas"]["ReconciliationDifference"][];
        };
        /**
         * @description Operational code, where one applies
         * @enum {string}
         */
        OperationalCode: "SVC-1006" | "SVC-1011" | "SVC-2004" | "SVC-2005" | "SVC-3002" | "SVC-3003" | "SVC-4001";
        OperatorAccount: {
            /** Format: uuid */
            id: string;
            email: string;
            project: string;
            /**
             * @description A name of `GET /tiers`
             * @example free
             */
            tier: string;
            /** @enum {string} */
            status: "active" | "revoked";
            /** Format: date-time */
            createdAt: string;
            /** @description Of any of its keys, up to a minute late */
            lastUsedAt: string | null;
            /** @description Keys that are active or retiring; expired ones included */
            keys: number;
        };
        OperatorOverview: {
            /** Format: date-time */
            at: string;
            /** @description Of the instance that answers */
            instance: {
                /** Format: date-time */
                startedAt: string;
                version: string;
                networks: {
                    network: string;
                    /** @description Whether it could settle; `paused` apart */
                    isServing: boolean;
                    /** @description The whole network (scheme null), or schemes of it */
                    paused: {
                        scheme: string | null;
                        reason: string;
                    }[];
                    /** @description Why it does not serve */
                    problem: string | null;
                    isRpcReachable: boolean;
                    /** @enum {string} */
                    balanceLevel: "ok" | "low" | "empty" | "unknown";
                    /** @description How far this machine is behind the newest block; null where deadlines are no block times */
                    clockLagMs: number | null;
                    /** @description Signers that wait too long for their next transaction */
                    stuckLanes: string[];
                    limitations: string[];
                    endpoints: {
                        /** @description Host name only; numbered where several endpoints share one */
                        host: string;
                        /** @description Whether it responds, serves the right chain and is in sync */
                        isUp: boolean;
                        /** @description Newest block that it reported */
                        head: string | null;
                        /** @description Blocks behind the newest head of all endpoints */
                        lagBlocks: string | null;
                        latencyMs: number | null;
                        /** @description Chain that it serves, where it is another one */
                        wrongChain: string | null;
                        /** @description Since the start; without secrets */
                        lastFailure: {
                            message: string;
                            /** Format: date-time */
                            at: string;
                        } | null;
                    }[];
                    signers: {
                        address: string;
                        /** @description Smallest unit of the network's native coin */
                        balance: string;
                        /** @description What it can pay for at the current price */
                        settlementsLeft: number;
                        /** @description At the rate of the last 24 hours of all instances, shared evenly by the signers of the network; null: the rate is not known, or 0 */
                        daysLeft: number | null;
                        /** @description Gaps in its nonces that were closed; null: it has no lane */
                        laneRepairs: number | null;
                    }[];
                    reorgs: {
                        /** @description Settlements whose block was removed */
                        reorged: number;
                        /** @description Of them: reported as success, and failed */
                        lost: number;
                    };
                }[];
                limiter: {
                    /** @enum {string} */
                    store: "redis" | "memory";
                    /** @description Redis is down: each instance counts its share itself */
                    isDegraded: boolean;
                };
                /** @description Connections to the database, by their use */
                pools: {
                    name: string;
                    max: number;
                    /** @description Open connections */
                    total: number;
                    idle: number;
                    /** @description Requests that wait for a connection */
                    waiting: number;
                }[];
                jobs: {
                    name: string;
                    everyMs: number;
                    /** @description One instance does it for all: see `shared.jobs` */
                    isShared: boolean;
                    /** @description Null: not since the start */
                    succeededAt: string | null;
                    failedAt: string | null;
                    /** @description Since the last success */
                    failures: number;
                    runningSince: string | null;
                }[];
                /** @description Pauses that this instance knows */
                pauses: number;
            };
            /** @description Of all instances on one database. Null: could not be read; `unread` says why */
            shared: {
                database: ("ok" | "read_only") | null;
                /** @description `claimed`: nothing was sent, `pending`: sent; without those that are 0 */
                openSettlements: {
                    network: string;
                    state: string;
                    count: number;
                    oldestSeconds: number;
                }[] | null;
                openStreams: {
                    network: string;
                    state: string;
                    count: number;
                    oldestSeconds: number;
                }[] | null;
                lanes: {
                    network: string;
                    signer: string;
                    nextNonce: string;
                    /** @description Instance that sends in it; null: none */
                    holder: string | null;
                    /** @description Its transactions whose settlements are open */
                    unconfirmed: number;
                    oldestSeconds: number | null;
                }[] | null;
                /** @description Settlements opened in the last 24 hours, up to a minute old; `lost`: failed after success was answered */
                lastDay: {
                    network: string;
                    confirmed: number;
                    failed: number;
                    lost: number;
                }[] | null;
                webhooks: {
                    /** @description Deliveries that wait, at most 10,000 are counted */
                    waiting: number;
                    isCountLimited: boolean;
                    oldestSeconds: number | null;
                } | null;
                /** @description The last nightly run that ended; `last` null: none has */
                reconciliation: {
                    last: components["schemas"]["NightlyReconciliation"] | null;
                } | null;
                jobs: {
                    job: string;
                    holder: string | null;
                }[] | null;
                /** @description At most 50, newest heartbeat first */
                instances: {
                    id: string;
                    seenSecondsAgo: number;
                    isAlive: boolean;
                }[] | null;
            };
            /** @description Parts of `shared` that are null */
            unread: {
                part: string;
                reason: string;
            }[];
        };
        OperatorSettlement: components["schemas"]["Settlement"] & {
            /** @description Every transaction recorded for it, oldest first; at most one of them can pay */
            transactions: string[];
            /** @description Block of the payment */
            block?: {
                number: string;
                hash: string;
                /** @description Whether the block can no longer be orphaned */
                isFinal: boolean;
            };
            /** @description Account of the request, or `anonymous` */
            caller: string;
            /** @description Age since it was created */
            ageSeconds: number;
            /** @description Whether a live instance owns it; otherwise the reconciler resolves it */
            isOwned: boolean;
            /** @description Whether a request was answered `success: true` */
            isConsumed: boolean;
            /**
             * @deprecated
             * @description Earlier name of `isOwned`
             */
            isAttended: boolean;
            /**
             * @deprecated
             * @description Earlier name of `isConsumed`
             */
            hasToldSuccess: boolean;
        };
        OwnerSignature: {
            /** @example eip155:84532 */
            network: string;
            /** @description A recipient (`payTo`) of the resource */
            address: string;
            /**
             * Format: date-time
             * @description Within 5 minutes of now
             */
            issuedAt: string;
            signature: string;
        };
        Pause: {
            target: {
                /** @constant */
                kind: "network";
                network: string;
            } | {
                /** @constant */
                kind: "scheme";
                network: string;
                scheme: string;
            } | {
                /** @constant */
                kind: "recipient";
                network: string;
                payTo: string;
            } | {
                /** @constant */
                kind: "account";
                accountId: string;
            };
            reason: string;
            by: string | null;
            /** Format: date-time */
            since: string;
        };
        PauseRequest: {
            target: components["schemas"]["PauseTarget"];
            /**
             * @description Callers that are refused read it
             * @example The nodes of the network contradict each other
             */
            reason: string;
            /**
             * @description Who does it, for the audit trail: operators share one token
             * @example Ada
             */
            by?: string;
        };
        PauseTarget: {
            /** @constant */
            kind: "network";
            /**
             * @description Any name of a network that this instance has
             * @example eip155:8453
             */
            network: string;
        } | {
            /** @constant */
            kind: "scheme";
            /**
             * @description Any name of a network that this instance has
             * @example eip155:8453
             */
            network: string;
            /** @example exact */
            scheme: string;
        } | {
            /** @constant */
            kind: "recipient";
            /**
             * @description Any name of a network that this instance has
             * @example eip155:8453
             */
            network: string;
            /**
             * @description A recipient, in any spelling of its network
             * @example 0x209693Bc6afc0C5328bA36FaF03C514EF312287C
             */
            payTo: string;
        } | {
            /** @constant */
            kind: "account";
            /** Format: uuid */
            accountId: string;
        };
        /** @description Version 2: `accepted` and `payload`. Version 1 and the flat shape: `scheme`, `network` and `payload`. The version is read from `payVersion`, `x402Version` or `t402Version`. */
        PaymentPayload: components["schemas"]["PaymentPayloadV2"] | components["schemas"]["PaymentPayloadV1"] | components["schemas"]["PaymentPayloadFlat"];
        /**
         * Flat
         * @description Like version 1, with the fields of the authorization beside the signature.
         */
        PaymentPayloadFlat: {
            payVersion?: number;
            /** @example exact */
            scheme: string;
            /** @example eip155:84532 */
            network: string;
            payload: components["schemas"]["FlatEvmProof"];
        };
        /**
         * Version 1
         * @description The original shape: scheme and network beside the proof, short network names.
         */
        PaymentPayloadV1: {
            /**
             * @description Any one of the three names is accepted
             * @constant
             */
            payVersion?: 1;
            /**
             * @description Any one of the three names is accepted
             * @constant
             */
            x402Version?: 1;
            /**
             * @description Any one of the three names is accepted
             * @constant
             */
            t402Version?: 1;
            /** @example exact */
            scheme: string;
            /**
             * @description Short name or CAIP-2
             * @example base-sepolia
             */
            network: string;
            payload: components["schemas"]["ExactEvmProof"] | components["schemas"]["UptoPermitProof"] | components["schemas"]["ExactSolanaProof"] | components["schemas"]["ExactTonProof"] | components["schemas"]["SponsoredTonProof"] | components["schemas"]["ExactTronProof"] | components["schemas"]["ExactDirectProof"];
        };
        /**
         * Version 2
         * @description The current shape. `accepted` repeats the requirements that the client accepted; it must match `paymentRequirements` in scheme, network, amount, asset and payTo. Under `upto` its amount may be higher.
         */
        PaymentPayloadV2: {
            /**
             * @description Any one of the three names is accepted
             * @constant
             */
            payVersion?: 2;
            /**
             * @description Any one of the three names is accepted
             * @constant
             */
            x402Version?: 2;
            /**
             * @description Any one of the three names is accepted
             * @constant
             */
            t402Version?: 2;
            /** @description What is paid for */
            resource?: {
                /** @example https://api.example.com/report */
                url?: string;
                description?: string;
                mimeType?: string;
            };
            accepted: components["schemas"]["PaymentRequirements"];
            payload: components["schemas"]["ExactEvmProof"] | components["schemas"]["UptoPermitProof"] | components["schemas"]["ExactSolanaProof"] | components["schemas"]["ExactTonProof"] | components["schemas"]["SponsoredTonProof"] | components["schemas"]["ExactTronProof"] | components["schemas"]["ExactDirectProof"];
        };
        /** @description A payment, and what the resource server asks for it */
        PaymentRequest: {
            /** @description Protocol version, 1 or 2 */
            payVersion?: number;
            /** @description Protocol version, 1 or 2 */
            x402Version?: number;
            /** @description Protocol version, 1 or 2 */
            t402Version?: number;
            paymentPayload: components["schemas"]["PaymentPayload"];
            paymentRequirements: components["schemas"]["PaymentRequirements"];
            /**
             * @description Scheme `upto`: what to transfer, at most `maxAmount`; 0 transfers nothing and consumes the authorization. The scheme `exact` ignores it
             * @example 10000
             */
            settleAmount?: string | number;
            usageDetails?: components["schemas"]["UsageDetails"] | null;
        };
        /** @description The body of a 402 response in version 1 */
        PaymentRequired: {
            payVersion: number;
            x402Version: number;
            t402Version: number;
            error: string;
            accepts: components["schemas"]["RequirementsV1"][];
        };
        /** @description What the resource server asks for. One of `amount`, `maxAmountRequired` and `maxAmount` is required; where several are given they must be equal. */
        PaymentRequirements: {
            /**
             * @description How the payment is authorized
             * @example exact
             */
            scheme: string;
            /**
             * @description CAIP-2 identifier, or the short name of version 1
             * @example eip155:84532
             */
            network: string;
            /**
             * @description Smallest units of the token, decimal digits (uint256)
             * @example 10000
             */
            amount?: string | number;
            /**
             * @description Version 1 name of `amount`
             * @example 10000
             */
            maxAmountRequired?: string | number;
            /**
             * @description Name of `amount` in the scheme `upto`
             * @example 10000
             */
            maxAmount?: string | number;
            /**
             * @description Scheme `upto`: the least that may be settled, unless it is 0
             * @example 10000
             */
            minAmount?: string | number;
            /**
             * @description The token's contract address, the chain's own name for it, or its CAIP-19 identifier
             * @example 0x036CbD53842c5426634e7929541eC2318f3dCF7e
             */
            asset: string;
            /** @description Recipient address */
            payTo: string;
            /** @description How long an authorization may be valid; may be absent beside `maxAmountRequired`. Scheme `batch-settlement`: may be 0, where nothing is authorized */
            maxTimeoutSeconds?: number;
            /** @description EVM: `name` and `version` of the token's EIP-712 domain. Scheme `upto`: `unit` is `token`, `request`, `second`, `minute`, `byte`, `kb` or `mb`, and `unitPrice` the price of one, in smallest units */
            extra?: Record<string, unknown> | null;
            /** @description Version 1: URL of what is paid for */
            resource?: string;
            /** @description Version 1: what is paid for */
            description?: string;
            /** @description Version 1: media type of the resource */
            mimeType?: string;
            /** @description Version 1: how to call the resource */
            outputSchema?: unknown;
            /** @description Declarations of protocol extensions, by key */
            extensions?: Record<string, unknown> | null;
        };
        /** @description A price, answered with the body of a 402 response. */
        Price: {
            x402Version?: number;
            resourceUrl: string;
            /** @description HTTP method of the resource; not read */
            method?: string;
            /** @description Any name that `/supported` lists */
            network: string;
            /**
             * @description Dollars (`$0.01`) in the first token of the network, or an amount of a token
             * @example $0.01
             */
            price: string | number | {
                /** @example 10000 */
                amount: string;
                asset: {
                    address: string;
                    eip712?: {
                        name: string;
                        version: string;
                    } | null;
                };
            };
            /** @description Default `exact` */
            scheme?: string | null;
            /** @description Payee */
            recipientAddress?: string | null;
            /** @description Payee if `recipientAddress` is absent */
            serverWalletAddress?: string | null;
            routeConfig?: {
                description?: string | null;
                mimeType?: string | null;
                maxTimeoutSeconds?: number | null;
                outputSchema?: unknown;
            } | null;
            /** @description Copied into `extra` */
            extraMetadata?: Record<string, unknown> | null;
            accepts?: unknown;
        };
        Quota: {
            /** @description Transactions a month; -1: unlimited */
            limit: number;
            /** @constant */
            period: "monthly";
            used: number;
            /**
             * @description A name of `GET /tiers`
             * @example free
             */
            tier: string;
            feeRate: number;
            /** Format: date-time */
            resetsAt: string;
        };
        Readiness: {
            /**
             * @description `stopping`: the instance ends soon, and serves all requests until then
             * @enum {string}
             */
            status: "ready" | "unready" | "stopping";
            /** @description Results by check. Per network there are also `gas:<network>`, like `gas`; `clock:<network>`, `ok` or `behind`; and `lanes:<network>`, `ok` or `stuck`. None of these makes the service unready */
            checks: {
                /**
                 * @description `slow`: it stays ready, because all instances share the database. What follows makes it unready
                 * @enum {string}
                 */
                database?: "ok" | "slow" | "read_only" | "unreachable";
                /**
                 * @description `degraded`: Redis does not respond, so that each instance counts limits for itself; still ready
                 * @enum {string}
                 */
                store?: "ok" | "degraded" | "unreachable";
                /**
                 * @description `ok` if an endpoint of any network responds; `none` without networks
                 * @enum {string}
                 */
                rpc?: "ok" | "none" | "unreachable";
                /**
                 * @description What the signers of all networks hold; never makes it unready
                 * @enum {string}
                 */
                gas?: "ok" | "low" | "empty" | "unknown" | "none";
            } & {
                [key: string]: string;
            };
        };
        /**
         * @description Stable name of a reason
         * @enum {string}
         */
        Reason: "invalid_payload_structure" | "unsupported_scheme" | "network_mismatch" | "invalid_exact_evm_payload_signature" | "invalid_exact_evm_payload_recipient_mismatch" | "invalid_exact_evm_payload_authorization_valid_before" | "invalid_exact_evm_payload_authorization_valid_after" | "insufficient_funds" | "invalid_exact_evm_payload_authorization_value" | "invalid_network" | "invalid_x402_version" | "accepted_requirements_mismatch" | "unsupported_asset" | "self_payment" | "asset_not_deployed_contract" | "invalid_extension" | "payment_identifier_required" | "unsupported_payload_type" | "invalid_sender_address" | "unsupported_asset_transfer_method" | "payer_mismatch" | "invalid_payment_amount" | "payment_below_minimum" | "cross_check_unavailable" | "settle_amount_required" | "settle_amount_above_maximum" | "settle_amount_below_minimum" | "duplicate_settlement" | "settlement_pending" | "settlement_abandoned" | "settlement_displaced" | "authorization_expired_unsettled" | "asset_mismatch" | "recipient_mismatch" | "amount_mismatch" | "insufficient_amount" | "authorization_expired" | "transaction_failed" | "recipient_not_sponsored" | "payer_not_sponsored" | "invalid_exact_evm_nonce_already_used" | "invalid_exact_evm_token_name_mismatch" | "invalid_exact_evm_token_version_mismatch" | "invalid_exact_evm_missing_eip712_domain" | "invalid_exact_evm_eip3009_not_supported" | "invalid_exact_evm_payload_undeployed_smart_wallet" | "eip6492_factory_not_allowed" | "smart_wallet_deployment_failed" | "token_paused" | "account_blocked" | "invalid_exact_evm_transfer_event_mismatch" | "gas_limit_exceeded" | "invalid_exact_evm_transaction_simulation_failed" | "invalid_exact_evm_transaction_failed" | "invalid_permit2_spender" | "invalid_permit2_recipient_mismatch" | "invalid_permit2_signature" | "permit2_token_mismatch" | "permit2_amount_mismatch" | "permit2_deadline_expired" | "permit2_not_yet_valid" | "permit2_invalid_nonce" | "permit2_allowance_required" | "permit2_simulation_failed" | "permit_not_supported" | "permit_dai_not_supported" | "permit_nonce_mismatch" | "invalid_permit_spender" | "invalid_permit_signature" | "permit_expired" | "permit_amount_mismatch" | "permit_allowance_changed" | "permit_simulation_failed" | "invalid_upto_evm_transaction_failed" | "upto_facilitator_mismatch" | "invalid_upto_evm_payload_settlement_exceeds_amount" | "permit2_2612_amount_mismatch" | "invalid_eip2612_extension_format" | "eip2612_from_mismatch" | "eip2612_asset_mismatch" | "eip2612_spender_not_permit2" | "eip2612_deadline_expired" | "erc20_approval_not_sponsored" | "router_not_deployed" | "invalid_auth_capture_evm_payload_format" | "invalid_auth_capture_evm_extra" | "invalid_auth_capture_evm_unsupported_payment_flow" | "invalid_auth_capture_evm_missing_receiver_authorizer" | "invalid_auth_capture_evm_receiver_authorizer_mismatch" | "invalid_auth_capture_evm_unsupported_asset_transfer_method" | "invalid_auth_capture_evm_unsupported_operator_type" | "invalid_auth_capture_evm_policy" | "invalid_auth_capture_evm_operator_not_admitted" | "invalid_auth_capture_evm_payload_method_mismatch" | "invalid_auth_capture_evm_capture_deadline_expired" | "invalid_auth_capture_evm_deadline_ordering" | "invalid_auth_capture_evm_authorization_expired" | "invalid_auth_capture_evm_authorization_not_yet_valid" | "invalid_auth_capture_evm_token_collector_mismatch" | "invalid_auth_capture_evm_token_mismatch" | "invalid_auth_capture_evm_signature" | "invalid_auth_capture_evm_erc6492_factory_not_allowed" | "invalid_auth_capture_evm_amount_mismatch" | "invalid_auth_capture_evm_amount_overflow" | "invalid_auth_capture_evm_fee" | "invalid_auth_capture_evm_fee_bps" | "invalid_auth_capture_evm_fee_bps_range" | "invalid_auth_capture_evm_fee_bps_out_of_range" | "invalid_auth_capture_evm_fee_receiver" | "invalid_auth_capture_evm_zero_fee_receiver" | "invalid_auth_capture_evm_salt_binding_mismatch" | "invalid_auth_capture_evm_nonce_mismatch" | "invalid_auth_capture_evm_authorizer_signature" | "invalid_auth_capture_evm_void_authorizer_signature" | "invalid_auth_capture_evm_void_remainder_full_capture" | "invalid_auth_capture_evm_void_remainder_not_offered" | "invalid_auth_capture_evm_lifecycle_not_relayed" | "invalid_auth_capture_evm_operator_mismatch" | "invalid_auth_capture_evm_insufficient_balance" | "invalid_auth_capture_evm_payment_already_collected" | "invalid_auth_capture_evm_token_collection_failed" | "invalid_auth_capture_evm_collector" | "invalid_auth_capture_evm_unexpected_payment_state" | "invalid_auth_capture_evm_insufficient_authorization" | "invalid_auth_capture_evm_zero_authorization" | "invalid_auth_capture_evm_refund_exceeds_capture" | "invalid_auth_capture_evm_refund_deadline_expired" | "invalid_auth_capture_evm_refund_funding_unavailable" | "invalid_auth_capture_evm_simulation_failed" | "invalid_auth_capture_evm_transaction_reverted" | "invalid_batch_settlement_evm_payload_type" | "invalid_batch_settlement_evm_deposit_payload" | "invalid_batch_settlement_evm_voucher_payload" | "invalid_batch_settlement_evm_refund_payload" | "invalid_batch_settlement_evm_claim_payload" | "invalid_batch_settlement_evm_settle_payload" | "invalid_batch_settlement_evm_channel_id_mismatch" | "invalid_batch_settlement_evm_receiver_mismatch" | "invalid_batch_settlement_evm_receiver_authorizer_mismatch" | "invalid_batch_settlement_evm_token_mismatch" | "invalid_batch_settlement_evm_withdraw_delay_mismatch" | "invalid_batch_settlement_evm_withdraw_delay_out_of_range" | "invalid_batch_settlement_evm_erc3009_authorization_required" | "invalid_batch_settlement_evm_permit2_authorization_required" | "invalid_batch_settlement_evm_missing_eip712_domain" | "invalid_batch_settlement_evm_payload_authorization_valid_before" | "invalid_batch_settlement_evm_payload_authorization_valid_after" | "invalid_batch_settlement_evm_eip6492_factory_not_allowed" | "invalid_batch_settlement_evm_receive_authorization_signature" | "invalid_batch_settlement_evm_permit2_invalid_signature" | "invalid_batch_settlement_evm_permit2_invalid_spender" | "invalid_batch_settlement_evm_permit2_amount_mismatch" | "invalid_batch_settlement_evm_permit2_deadline_expired" | "invalid_batch_settlement_evm_permit2_allowance_required" | "invalid_batch_settlement_evm_eip2612_invalid_format" | "invalid_batch_settlement_evm_eip2612_invalid_signature" | "invalid_batch_settlement_evm_eip2612_owner_mismatch" | "invalid_batch_settlement_evm_eip2612_asset_mismatch" | "invalid_batch_settlement_evm_eip2612_spender_mismatch" | "invalid_batch_settlement_evm_eip2612_deadline_expired" | "invalid_batch_settlement_evm_eip2612_amount_mismatch" | "invalid_batch_settlement_evm_erc20_approval_unavailable" | "invalid_batch_settlement_evm_voucher_signature" | "invalid_batch_settlement_evm_insufficient_balance" | "invalid_batch_settlement_evm_channel_not_found" | "invalid_batch_settlement_evm_cumulative_exceeds_balance" | "invalid_batch_settlement_evm_cumulative_below_claimed" | "invalid_batch_settlement_evm_rpc_read_failed" | "invalid_batch_settlement_evm_deposit_simulation_failed" | "invalid_batch_settlement_evm_deposit_transaction_failed" | "invalid_batch_settlement_evm_deposit_already_used" | "invalid_batch_settlement_evm_authorizer_not_configured" | "invalid_batch_settlement_evm_authorizer_address_mismatch" | "invalid_batch_settlement_evm_claim_authorizer_signature" | "invalid_batch_settlement_evm_claim_simulation_failed" | "invalid_batch_settlement_evm_claim_transaction_failed" | "invalid_batch_settlement_evm_nothing_to_settle" | "invalid_batch_settlement_evm_settle_simulation_failed" | "invalid_batch_settlement_evm_settle_transaction_failed" | "invalid_batch_settlement_evm_refund_no_balance" | "invalid_batch_settlement_evm_refund_authorizer_mismatch" | "invalid_batch_settlement_evm_refund_authorizer_signature" | "invalid_batch_settlement_evm_refund_nonce_mismatch" | "invalid_batch_settlement_evm_refund_simulation_failed" | "invalid_batch_settlement_evm_refund_transaction_failed" | "invalid_exact_svm_payload_transaction_could_not_be_decoded" | "invalid_exact_svm_smart_wallet_alt_resolution_not_available" | "invalid_exact_svm_fee_payer_not_managed_by_facilitator" | "invalid_exact_svm_fee_payer_mismatch" | "invalid_exact_svm_payload_excessive_signers" | "invalid_exact_svm_payload_transaction_instructions_length" | "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction" | "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high" | "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction" | "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high" | "invalid_exact_svm_payload_no_transfer_instruction" | "invalid_exact_svm_payload_unknown_fourth_instruction" | "invalid_exact_svm_payload_unknown_fifth_instruction" | "invalid_exact_svm_payload_unknown_sixth_instruction" | "invalid_exact_svm_payload_unknown_seventh_instruction" | "invalid_exact_svm_payload_memo_count" | "invalid_exact_svm_payload_memo_mismatch" | "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds" | "invalid_exact_svm_payload_mint_mismatch" | "invalid_exact_svm_payload_amount_mismatch" | "invalid_exact_svm_payload_recipient_mismatch" | "invalid_exact_svm_payload_transaction_sender_ata_not_found" | "invalid_exact_svm_payload_transaction_receiver_ata_not_found" | "invalid_exact_svm_payload_signature_invalid" | "invalid_exact_svm_transaction_simulation_failed" | "settle_exact_svm_block_height_exceeded" | "invalid_exact_svm_transaction_failed" | "invalid_boc_format" | "message_verification_failed" | "invalid_exact_tvm_payload_valid_until_too_far" | "authorization_mismatch" | "invalid_exact_tvm_payload_amount_mismatch" | "invalid_exact_tvm_payload_w5_actions" | "invalid_exact_tvm_payload_jetton_transfer" | "insufficient_ton_attached" | "invalid_exact_tvm_payload_attached_ton_amount_too_high" | "invalid_exact_tvm_payload_invalid_code_hash" | "invalid_exact_tvm_payload_wallet_id_mismatch" | "invalid_exact_tvm_payload_signature_mode_mismatch" | "invalid_exact_tvm_payload_extensions_dict_mismatch" | "account_frozen" | "wallet_not_deployed" | "seqno_already_used" | "seqno_too_high" | "insufficient_jetton_balance" | "insufficient_ton_for_gas" | "transaction_verification_failed" | "invalid_hex_encoding" | "transaction_too_short" | "invalid_recipient_address" | "invalid_contract_address" | "authorization_expires_too_late" | "fee_limit_too_high" | "fee_limit_too_low" | "invalid_exact_tron_signature" | "transaction_already_on_chain" | "reference_block_mismatch" | "account_not_activated" | "account_permission_mismatch" | "insufficient_balance" | "insufficient_energy" | "invalid_exact_tron_transaction_simulation_failed" | "transfer_event_mismatch" | "transaction_not_found" | "transaction_not_final" | "transaction_too_old" | "transaction_too_late" | "no_matching_transfer" | "sender_mismatch" | "memo_mismatch" | "offer_unknown" | "claim_not_permitted" | "invalid_claim_signature";
        ReasonCatalogue: {
            reasons: components["schemas"]["ReasonEntry"][];
            errorCodes: components["schemas"]["ErrorCodeEntry"][];
        };
        ReasonEntry: {
            reason: string;
            /** @description The sentence that answers carry */
            title: string;
            /** @description When it happens */
            explanation: string;
            /** @description What to do */
            remedy: string;
            /** @description Whether the same request may succeed later */
            retryable: boolean;
            /**
             * @description Operational code, where one applies
             * @enum {string}
             */
            operationalCode?: "SVC-1006" | "SVC-1011" | "SVC-2004" | "SVC-2005" | "SVC-3002" | "SVC-3003" | "SVC-4001";
        };
        Recipient: {
            /** @description CAIP-2 identifier */
            network: string;
            /** @description In the network's normal form */
            payTo: string;
            claims: {
                memo: boolean;
                signedClaim: boolean;
                uniqueAmount: boolean;
                ownKey: boolean;
            };
            /** Format: date-time */
            statedAt: string;
            /** @description True: the operator's configuration states other demands for the recipient, which apply */
            isOverridden: boolean;
        };
        ReconciledSettlement: {
            id: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            closedAt?: string;
            /** @enum {string} */
            status: "pending" | "confirmed" | "failed";
            network: string;
            scheme: string;
            asset: string;
            payer: string;
            payTo: string;
            /** @description Smallest units that moved; 0 if it failed */
            amount: string;
            transaction: string;
            /** @description Or `anonymous` */
            accountId: string;
            /**
             * @description `unproven`: nodes no longer show enough; `unavailable`: no node answered; `unsent`: nothing was sent
             * @enum {string}
             */
            chain: "agrees" | "differs" | "unproven" | "unavailable" | "unsent" | "open";
            /**
             * @description Delivery of its last event; `none`: of an anonymous caller, or purged
             * @enum {string}
             */
            event: "delivered" | "waiting" | "failed" | "stored" | "none";
            quotaMonth?: string;
            /** @description Smallest units */
            fee?: string;
            differences: components["schemas"]["DifferenceKind"][];
        };
        ReconciliationCount: {
            kind: components["schemas"]["DifferenceKind"];
            count: number;
        };
        ReconciliationDifference: {
            kind: components["schemas"]["DifferenceKind"];
            /** @description One sentence that names both sides */
            message: string;
            settlementId?: string;
            network?: string;
            accountId?: string;
            /** @description What the journal says */
            expected?: string;
            /** @description What the other record says */
            actual?: string;
        };
        ReconciliationPage: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description Whether this page has no difference, nothing unchecked and no event that waits */
            isBalanced: boolean;
            checked: {
                settlements: number;
                /** @description Of them: compared with the chain */
                onChain: number;
                unproven: number;
                unavailable: number;
                /** @description Without an outcome that could be compared */
                open: number;
                /** @description Events that their webhook has not accepted yet */
                waitingEvents: number;
            };
            /** @description At most 1,000 of each comparison */
            differences: components["schemas"]["ReconciliationDifference"][];
            /** @description All differences by kind, including those that are not listed */
            counts: components["schemas"]["ReconciliationCount"][];
            /** @description Whether `differences` leaves some out */
            isTruncated: boolean;
            /** @description Newest first */
            settlements: components["schemas"]["ReconciledSettlement"][];
            /** @description Of the whole period; on the first page */
            totals?: components["schemas"]["ReconciliationTotal"][];
            /** @description The last nightly run; on the first page */
            lastNightly?: components["schemas"]["NightlyReconciliation"];
            /** @description For the next page; absent on the last one */
            nextCursor?: string;
        };
        ReconciliationTotal: {
            network: string;
            asset: string;
            confirmed: number;
            failed: number;
            pending: number;
            /** @description Sum of what moved, in smallest units */
            amount: string;
            /** @description Sum of accrued fees, in smallest units */
            fees: string;
        };
        RefreshedCreditScore: components["schemas"]["CreditScore"] & {
            refresh: {
                /** @description False: the wallet has too many settlements to compare them in time; its figures are as before */
                isComplete: boolean;
                /** @description Figures that the recount corrected; 0 unless something is wrong */
                repairs: number;
            };
        };
        RefundRequest: {
            /**
             * @description Any name of the network
             * @example eip155:84532
             */
            network: string;
            /** @description The escrow's hash of the payment, in any letter case */
            paymentInfoHash: string;
            /**
             * @description Smallest units of the token, decimal digits
             * @example 4000
             */
            amount: string;
        };
        Registration: {
            apiKey: string;
            projectName: string;
            quota: components["schemas"]["Quota"];
            isNew: boolean;
        };
        RequestStatistics: {
            /** @description Answered requests since the first start, without probes */
            totalRequests: number;
            /** @description Responses below 500, including refusals */
            successfulRequests: number;
            /** @description Responses with a status of 500 or more */
            failedRequests: number;
            /** @description Mean of all requests; 0 without requests */
            avgDurationMs: number;
        };
        /** @description Requirements that lack what only a facilitator knows, such as `extra`. Answered with 200. */
        RequirementsToComplete: {
            payVersion?: number;
            x402Version?: number;
            t402Version?: number;
            resource?: ({
                url?: string;
            } | string) | null;
            accepts: {
                /** @description Default `exact` */
                scheme?: string;
                /** @description Any name that `/supported` lists */
                network: string;
                /** @example 10000 */
                amount?: string;
                /**
                 * @description Version 1 name of `amount`
                 * @example 10000
                 */
                maxAmountRequired?: string;
                /**
                 * @description Name of `amount` in the scheme `upto`
                 * @example 10000
                 */
                maxAmount?: string;
                /**
                 * @description Scheme `upto`: the least that may be settled
                 * @example 10000
                 */
                minAmount?: string;
                /** @description Default: the first token of the network */
                asset?: string;
                payTo: string;
                maxTimeoutSeconds?: number;
                extra?: Record<string, unknown> | null;
                resource?: string;
                description?: string;
                mimeType?: string;
            }[];
        };
        RequirementsV1: {
            scheme: string;
            network: string;
            maxAmountRequired: string;
            /** @description Scheme `upto`: the same as the amount */
            maxAmount?: string;
            /** @description Scheme `upto`: the least that may be settled */
            minAmount?: string;
            resource: string;
            description: string;
            mimeType: string;
            outputSchema?: unknown;
            asset: string;
            payTo: string;
            maxTimeoutSeconds: number;
            extra: Record<string, unknown>;
        };
        ResourcePage: {
            /** @constant */
            x402Version: 2;
            /** @constant */
            t402Version: 2;
            items: components["schemas"]["DiscoveredResource"][];
            /** @description The same resources in short */
            resources: components["schemas"]["ResourceSummary"][];
            /** @description Matches; with filters 1000 stands for at least 1000 */
            total: number;
            limit: number;
            offset: number;
            pagination: {
                limit: number;
                offset: number;
                total: number;
                cursor: string | null;
            };
            /** @description For the next page; absent at the end */
            nextCursor?: string;
            /** @description Whether matches or extensions were left out; `nextCursor` continues */
            partialResults: boolean;
        };
        ResourceSearchPage: {
            /** @constant */
            x402Version: 2;
            /** @constant */
            t402Version: 2;
            resources: components["schemas"]["DiscoveredResource"][];
            /** @description Whether matches or extensions were left out; `nextCursor` continues */
            partialResults: boolean;
            pagination: {
                limit: number;
                cursor: string | null;
            };
            /** @description For the next page; absent at the end */
            nextCursor?: string;
        };
        ResourceSummary: {
            /** @description For GET /discovery/resources/{id} */
            id: string;
            /** @description The same as `resource` */
            resourceUri: string;
            /** @description The same as `resource`, for the t402 SDK */
            url: string;
            /** @enum {string} */
            type: "http" | "mcp";
            /** @description Of the latest terms, CAIP-2 */
            network: string;
            /**
             * Format: date-time
             * @description First settlement
             */
            discoveredAt: string;
            metadata: {
                /** @description `serviceName`, or the host */
                provider: string;
                description?: string;
                tags: string[];
                method?: string;
                toolName?: string;
            };
        };
        /** @enum {string} */
        RouteProblem: "network_not_served" | "network_unavailable" | "paused" | "bridge_needed" | "testnet" | "unsupported_asset" | "amount_not_exact" | "payment_below_minimum" | "cross_check_unavailable" | "no_payer_address" | "no_payee_address" | "ambiguous_address" | "claim_not_permitted" | "self_payment" | "balance_unknown" | "insufficient_balance";
        RouteSelection: {
            routeId: string;
        };
        RoutedIntent: {
            intent: components["schemas"]["Intent"];
            selectedRoute: components["schemas"]["IntentRoute"];
            paymentRequirements: components["schemas"]["IntentRequirements"];
        };
        Router: {
            /** @description As the caller named it */
            network: string;
            payTo: string;
            /** @description For `extra.routerAddress`: pays to `payTo` only, and is the spender that payers sign */
            routerAddress: string;
            /** @description False: the first settlement deploys it; the address is final */
            isDeployed: boolean;
            /** @description Router for any recipient, who is chosen at settlement; absent unless the operator takes permits for it */
            sharedRouterAddress?: string;
        };
        /**
         * @description Stable name of the rule
         * @enum {string}
         */
        RuleName: "request_form" | "payload_form" | "protocol_version" | "scheme_version" | "payload_terms" | "scheme_match" | "network_match" | "accepted_amount" | "accepted_asset" | "accepted_pay_to" | "scheme_served" | "requirements_terms" | "extensions" | "claim_permitted" | "transfer_method" | "payload_fields" | "asset" | "asset_listed" | "asset_permit" | "router" | "named_asset" | "hold_terms" | "capture_deadlines" | "fee_terms" | "salt_binding" | "payment_hash" | "authorizer_signature" | "channel_terms" | "deposit_terms" | "voucher_signature" | "channel_state" | "void_remainder" | "spender" | "facilitator" | "recipient" | "sender" | "self_payment" | "required_amount" | "authorized_amount" | "charge" | "valid_after" | "valid_before" | "validity_limit" | "token_domain" | "signature" | "wallet" | "token_permit" | "minimum_payment" | "sponsoring" | "authorization_known" | "authorization_unused" | "allowance" | "balance" | "simulation" | "settlement_cost" | "encoding" | "lookup_tables" | "fee_payer" | "signers" | "instructions" | "compute_limit" | "priority_fee" | "assertions" | "memo" | "fee_payer_untouched" | "payload_copy" | "message_form" | "attached_coin" | "forward_terms" | "wallet_version" | "wallet_deployed" | "wallet_signatures" | "wallet_extensions" | "wallet_id" | "sequence" | "token_wallet" | "fee_balance" | "fee_limit" | "unseen" | "reference_block" | "account" | "account_permission" | "asset_contract" | "transfer_event" | "claim" | "transaction" | "script" | "verification" | "funds_free" | "settled_once";
        SandboxAddress: {
            /**
             * @description For `GET /sandbox/payments/{payer}`; the same on every network
             * @example CAFE11
             */
            name: string;
            /**
             * @description The payer; no key of it is known, so that neither signature nor balance is checked
             * @example 0x0000000000000000000000000000000000CAFE11
             */
            address: string;
            /**
             * @description Namespace of its networks
             * @example eip155
             */
            family: string;
            /** @description CAIP-2 identifiers */
            networks: string[];
            schemes: string[];
            /** @description What happens to its payments */
            meaning: string;
            /** @description What /verify answers */
            verify: components["schemas"]["SandboxVerifyAnswer"];
            /** @description What /settle answers */
            settle: components["schemas"]["SandboxSettleAnswer"];
            request: components["schemas"]["SandboxPayment"];
        };
        SandboxAddressList: {
            addresses: components["schemas"]["SandboxAddress"][];
        };
        SandboxInbox: {
            /** Format: uuid */
            id: string;
            /** @description For `webhookUrl` of POST /dashboard/webhook; reached by this service only */
            url: string;
            /** @description Deliveries that are still answered with status 500 */
            failuresLeft: number;
            /** Format: date-time */
            expiresAt: string;
        };
        SandboxInboxMessages: components["schemas"]["SandboxInbox"] & {
            /** @description Newest first, up to 100 */
            messages: {
                headers: {
                    [key: string]: string;
                };
                /** @description As signed: verify the signature over this text */
                body: string;
                /** @description What the inbox answered */
                status: number;
                /** Format: date-time */
                receivedAt: string;
            }[];
        };
        /** @description A body for /verify and /settle, of the scheme exact, with a new nonce */
        SandboxPayment: {
            paymentPayload: components["schemas"]["PaymentPayload"];
            paymentRequirements: Record<string, unknown>;
        };
        /** @description Of the first /settle with the payment */
        SandboxSettleAnswer: {
            success: boolean;
            errorReason?: string;
            /** @constant */
            status?: "pending";
        };
        SandboxVerifyAnswer: {
            isValid: boolean;
            invalidReason?: string;
        };
        Scenario: {
            /** Format: uuid */
            id: string;
            network: string;
            /** @description Its payments follow the script; it needs no signature */
            payer: string;
            /** @description Clock of the scenario: moves by requests only */
            clockSeconds: number;
            /**
             * Format: date-time
             * @description Then pending payments take the end of the script
             */
            expiresAt: string;
            request?: components["schemas"]["SandboxPayment"];
            inbox?: components["schemas"]["SandboxInbox"];
        };
        /** @description How the payments of a new payer behave */
        ScenarioRequest: {
            /**
             * @description CAIP-2 identifier of a network of the sandbox
             * @example eip155:84532
             */
            network: string;
            /** @description What /verify answers; absent: valid */
            verify?: {
                /**
                 * @description Reason of the refusal or failure, as in docs/errors.md
                 * @example insufficient_funds
                 */
                refusedFor?: components["schemas"]["Reason"];
            };
            /** @description What becomes of the settlement; absent: confirmed at once */
            settle?: {
                /**
                 * @description Reason of the refusal or failure, as in docs/errors.md
                 * @example insufficient_funds
                 */
                failsFor?: components["schemas"]["Reason"];
                /** @description How long the settlement is pending on the clock of the scenario; absent: 0 */
                pendingSeconds?: number;
            };
            reorg?: {
                /** @description Blocks of 2 s on top of the payment when its block is orphaned */
                afterBlocks: number;
                /**
                 * @description Absent: another block confirms it
                 * @example insufficient_funds
                 */
                failsFor?: components["schemas"]["Reason"];
            };
            /** @description Makes an inbox for the webhooks of your key as well */
            webhook?: {
                /** @description Deliveries that the inbox answers with status 500 before it answers 200 */
                failures: number;
            };
        };
        ServiceInfo: {
            name: string;
            version: string;
            description: string;
            endpoints: {
                method: string;
                path: string;
                description: string;
            }[];
            /** @description What is on, and in which mode */
            features: {
                [key: string]: boolean | string | string[];
            };
            /** @description What networks could settle and do not at the moment, and why */
            limitations: {
                network: string;
                text: string;
            }[];
        };
        SettleResult: {
            /** @description Whether the recipient was paid: deliver */
            success: boolean;
            /** @description Transaction hash; empty when nothing was sent */
            transaction: string;
            /** @description The network as the caller spelled it */
            network: string;
            payer?: string;
            /** @description Transferred amount, in smallest units */
            amount?: string;
            errorReason?: components["schemas"]["Reason"];
            /** @description The reason as a sentence */
            errorMessage?: string;
            operationalCode?: components["schemas"]["OperationalCode"];
            /** @description With a reason: whether the same request may succeed later */
            retryable?: boolean;
            /** @description For GET /v1/settlements/{id} */
            settlementId?: string;
            /** @description What became of protocol extensions, by key, such as `bazaar`: whether the resource is listed, or why not */
            extensions?: {
                [key: string]: Record<string, unknown>;
            };
            /** @description Scheme `batch-settlement`, on success of a deposit or a refund: `channelState`, the channel in the block of the transaction */
            extra?: Record<string, unknown>;
            /**
             * @description Only of a sandbox: no payment is real. Every answer of it has this field
             * @constant
             */
            sandbox?: true;
            /**
             * @description `pending`: sent, outcome not known yet; ask again, do not pay again
             * @enum {string}
             */
            status?: "confirmed" | "failed" | "pending";
            /** @description Schemes `upto` and `auth-capture`, on success: the same as `transaction` */
            transactionHash?: string;
            /** @description Schemes `upto` and `auth-capture`, on success: the same as `amount` */
            settledAmount?: string;
            /** @description Schemes `upto` and `auth-capture`, on success: the authorized maximum, in smallest units */
            maxAmount?: string;
            /** @description Schemes `upto` and `auth-capture`, on success: block of the transaction; absent without one */
            blockNumber?: number;
            /** @description Schemes `upto` and `auth-capture`, on success: gas of the whole transaction, which may carry a batch */
            gasUsed?: string;
            /** @description Scheme `upto`: what of `usageDetails` does not add up, in a sentence each. The settlement is as valid as without; absent if there is none */
            warnings?: string[];
        };
        Settlement: {
            id: string;
            /**
             * @description `confirmed` and `failed` are proven; `pending` becomes one of them. A `confirmed` payment is `pending` again if its block is orphaned, until it is proven again
             * @enum {string}
             */
            status: "confirmed" | "failed" | "pending";
            scheme: string;
            /** @description CAIP-2 identifier */
            network: string;
            asset: string;
            payer: string;
            /** @description Recipient */
            payTo: string;
            /** @description Amount, in smallest units */
            amount: string;
            /** @description Authorized maximum, where it differs from `amount` */
            maxAmount?: string;
            /** @description Empty until something is sent */
            transaction: string;
            errorReason?: components["schemas"]["Reason"];
            /** @description The reason as a sentence */
            errorMessage?: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When its outcome was proven
             */
            closedAt?: string;
        };
        SettlementDetails: components["schemas"]["Settlement"] & {
            /** @description Every transaction recorded for it, oldest first; at most one of them can pay */
            transactions: string[];
            /** @description Block of the payment */
            block?: {
                number: string;
                hash: string;
                /** @description Whether the block can no longer be orphaned */
                isFinal: boolean;
            };
        };
        SettlementEvent: {
            /** @description The header `webhook-id` */
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["Settlement"] & {
                /** @description URL of what was paid for, where the payment names it */
                resource?: string;
                /** @description Of the request that received the success, or had a channel's sweep made */
                idempotencyKey?: string;
                operationalCode?: components["schemas"]["OperationalCode"];
                /** @description With a reason: whether the same request may succeed later */
                retryable?: boolean;
            };
        };
        SettlementFee: {
            /** @description Smallest units of the network's native coin */
            amount: string;
            symbol: string;
            decimals: number;
            /** @enum {string} */
            paidBy: "facilitator" | "payer";
        };
        SettlementPage: {
            /** @description Newest first */
            settlements: components["schemas"]["OperatorSettlement"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        SettlementStatistics: {
            confirmed: number;
            failed: number;
            /** @description Started, outcome not known yet */
            pending: number;
        };
        SettlementsOfTransaction: components["schemas"]["Settlement"] & {
            /** @description The other payments of the same transaction, where it carried several */
            others?: components["schemas"]["Settlement"][];
        };
        SignIn: {
            /** @constant */
            isValid: true;
            /** @description In the chain's canonical form: EIP-55 on EVM chains */
            address: string;
            chainId: string;
            /** @description CAIP-10 */
            account: string;
            domain: string;
            uri: string;
            nonce: string;
            issuedAt: string;
            expirationTime?: string;
            requestId?: string;
            statement?: string;
            readonly resources: string[];
            /**
             * @description Found by verification, not as stated
             * @enum {string}
             */
            signatureScheme: "eip191" | "eip712" | "eip1271" | "eip6492" | "siws" | "sep10";
        };
        SignInNonce: {
            nonce: string;
            /**
             * @description ISO 8601
             * @example 2026-01-01T00:00:00.000Z
             */
            issuedAt: string;
            /**
             * @description ISO 8601
             * @example 2026-01-01T00:00:00.000Z
             */
            expirationTime: string;
            domain?: string;
            uri?: string;
            /** @description For `extensions` of a 402 response: the declarations of t402 and of x402 */
            extensions?: {
                siwx: Record<string, unknown>;
                "sign-in-with-x"?: Record<string, unknown>;
            };
        };
        /** @description A signed message that we relay and pay for. A proof of scheme `exact` on TON. */
        SponsoredTonProof: {
            /** @description An internal message to the payer’s V5R1 wallet in base64, signed as `internal_signed`, with the wallet’s state when it is not deployed */
            settlementBoc: string;
            /** @description The jetton master; equals `asset` */
            asset: string;
        };
        Stream: {
            id: string;
            /**
             * @description `closing`: the final amount is fixed and its settlement under way. `failed`: it could not be settled. `expired`: its time passed and nothing was used
             * @enum {string}
             */
            status: "active" | "paused" | "closing" | "closed" | "failed" | "expired";
            scheme: string;
            /** @description CAIP-2 identifier */
            network: string;
            asset: string;
            payer: string;
            /** @description Recipient: `payTo` of the requirements */
            payee: string;
            /** @description What the payer authorized, in smallest units */
            maxAmount: string;
            /** @description What was used so far */
            currentAmount: string;
            /** @description Of the last update; 0 before the first */
            sequence: number;
            /** @description Updates that were accepted */
            updates: number;
            /** @description Whether the payer signs: every update needs a voucher from then on */
            vouchers: boolean;
            /** @description Of a stream over a channel: a claim takes `baseline` and the final amount */
            channel?: {
                channelId: string;
                /** @description What was charged of it before the stream */
                baseline: string;
                /** @description Of the payer's highest voucher, `baseline` included */
                ceiling: string;
            };
            /** @description What is settled; fixed by the close */
            finalAmount?: string;
            /** @description What was transferred */
            settledAmount?: string;
            /** @description Empty if nothing had to be sent */
            transaction?: string;
            /** @description For GET /v1/settlements/{id} */
            settlementId?: string;
            errorReason?: components["schemas"]["Reason"];
            /** @description The reason as a sentence */
            errorMessage?: string;
            /** @description Why the amount could not be settled at the last look at the chain; absent if it could */
            risk?: components["schemas"]["Reason"];
            metadata?: Record<string, unknown>;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            lastUpdatedAt: string;
            /**
             * Format: date-time
             * @description When the stream closes by itself
             */
            expiresAt: string;
            /** Format: date-time */
            closedAt?: string;
        };
        StreamAnswer: {
            stream: components["schemas"]["Stream"];
            /** @description Of a close over a channel that is not settled */
            claim?: components["schemas"]["StreamClaim"];
        };
        /** @description What settles a stream over a channel, as it stands */
        StreamClaim: {
            /** @description The row as `/settle` takes it in a `claim`, with the highest voucher */
            claims: Record<string, unknown>[];
            /** @description EIP-712 typed data that the receiverAuthorizer of the channel signs */
            typedData: Record<string, unknown>;
        };
        /** @description Ends a stream */
        StreamCloseRequest: {
            /** Format: uuid */
            streamId: string;
            /**
             * @description What to settle: at least what was used; default: that. 0 transfers nothing
             * @example 2500
             */
            finalAmount?: string;
            /** @description Only over a channel whose receiverAuthorizer is yours: its signature over `claim.typedData` of the last answer */
            claimAuthorizerSignature?: string;
            /** @description Of a stream that was opened without an API key; may be sent as `X-Stream-Token` instead */
            token?: string;
        };
        StreamControl: {
            /** @description Of a stream that was opened without an API key; may be sent as `X-Stream-Token` instead */
            token?: string;
        };
        StreamEvent: {
            /** @description The header `webhook-id` */
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["Stream"];
        };
        /** @description A payment under `upto`, as for /verify, that is settled when the stream is closed; or a `voucher` under `batch-settlement`, whose channel pays by one claim */
        StreamOpenRequest: {
            /** @description Protocol version, 1 or 2 */
            payVersion?: number;
            /** @description Protocol version, 1 or 2 */
            x402Version?: number;
            /** @description Protocol version, 1 or 2 */
            t402Version?: number;
            paymentPayload: components["schemas"]["PaymentPayload"];
            paymentRequirements: components["schemas"]["PaymentRequirements"];
            /**
             * Format: date-time
             * @description When the stream closes by itself: at most 30 days from now, and 60 s before the authorization ends; default 24 h
             */
            expiresAt?: string;
            /** @description Only over a channel: what you have charged of it before, if that is more than what is claimed on chain */
            baseline?: string;
            /** @description Yours, returned as it is; at most 2,048 bytes */
            metadata?: Record<string, unknown>;
        };
        StreamOpened: {
            stream: components["schemas"]["Stream"];
            /** @description EIP-712 typed data of a voucher, for `eth_signTypedData_v4`: the payer replaces `amount` and `sequence` of the message. Absent where the network has no vouchers */
            voucherTypedData?: Record<string, unknown>;
            /** @description Only without an API key, and only once: controls the stream. Keep it secret */
            streamToken?: string;
        };
        StreamPage: {
            /** @description Newest first */
            streams: components["schemas"]["Stream"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        /** @description The amount that was used so far */
        StreamUpdateRequest: {
            /** Format: uuid */
            streamId: string;
            /**
             * @description What was used since the stream was opened, in smallest units: never less than before
             * @example 2500
             */
            amount: string;
            /** @description Above that of the last update; gaps are fine. Default: the next one */
            sequence?: number;
            /** @description The payer's EIP-712 signature over stream, amount and sequence, see `voucherTypedData` of the open answer. Once a stream has seen one, every update needs one. Over a channel: the voucher of the channel, which an update needs when what was used exceeds the highest one */
            voucher?: {
                signature: string;
                /** @description Only over a channel: what may be claimed of it over its life */
                maxClaimableAmount?: string;
                /** @description Only over a channel: that of the stream */
                channelId?: string;
            };
            /** @description Of a stream that was opened without an API key; may be sent as `X-Stream-Token` instead */
            token?: string;
        };
        StreamUpdated: {
            stream: components["schemas"]["Stream"];
            /**
             * @description What is left of the maximum, over a channel at most of the highest voucher; in smallest units
             * @example 7500
             */
            remaining: string;
            /** @description False: stop the service. The maximum is used, the time is over, the funds are at risk, or the payer of a channel has to sign a higher voucher */
            canContinue: boolean;
            /** @description Of GET, over a channel */
            claim?: components["schemas"]["StreamClaim"];
        };
        Supported: {
            kinds: {
                /** @description Protocol version, 1 or 2 */
                payVersion: number;
                /** @description The same number, for x402 clients */
                x402Version: number;
                /** @description The same number, for t402 clients */
                t402Version: number;
                scheme: string;
                /** @description A name that is accepted in requests: in version 2 a CAIP-2 identifier or another form of it, in version 1 a short name */
                network: string;
                /** @description What a client needs to know to sign, such as a fee payer */
                extra?: Record<string, unknown>;
                /** @description Lowest payments by asset, in smallest units; absent where there are none. They may follow the price of gas */
                minimumPayments?: {
                    [key: string]: string;
                };
            }[];
            /** @description Protocol extensions that this instance implements */
            extensions: string[];
            /** @description Signer addresses that send settlements, by family (`eip155:*`), under every namespace of its networks */
            signers: {
                [key: string]: string[];
            };
        };
        Tier: {
            /** @description Display name */
            name: string;
            /** @description Transactions per month; -1 means unlimited */
            monthlyQuota: number;
            /** @description Requests per minute, for each of /verify and /settle; -1 means unlimited */
            rpmLimit: number;
            /** @description Fraction of a payment, for example 0.001 */
            feeRate: number;
            /** @description Monthly price in cents */
            priceCents: number;
        };
        /** @description Why there is no route on a network */
        UnavailableRoute: {
            network: string;
            scheme?: string;
            asset?: string;
            reason: components["schemas"]["RouteProblem"];
            message: string;
        };
        /** @description An EIP-2612 `Permit`, signed by the payer. A proof of scheme `upto` on EVM. */
        UptoPermitProof: {
            /** @description EIP-712 signature of `Permit`, by the owner */
            signature: {
                v: number;
                r: string;
                s: string;
            };
            authorization: {
                /**
                 * @description The payer
                 * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                 */
                owner: string;
                /**
                 * @description The router: `extra.routerAddress`
                 * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                 */
                spender: string;
                /** @description Smallest units; equals `maxAmount` */
                value: string;
                /** @description Unix time in seconds, decimal digits */
                deadline: string;
                /** @description The owner's current permit nonce of the token */
                nonce: number | string;
            };
            /** @description 32 bytes in hex, not signed */
            paymentNonce: string;
        };
        /** @description What was used. Scheme `upto`: what does not agree with what is settled is a warning in the answer */
        UsageDetails: {
            unitsConsumed?: number;
            /**
             * @description Price per unit, in smallest units; may have a fraction
             * @example 2.5
             */
            unitPrice?: string;
            /**
             * @description Billing unit
             * @example request
             */
            unitType?: string;
            /** @description Unix time in seconds */
            startTime?: number;
            /** @description Unix time in seconds */
            endTime?: number;
        };
        VerifyResult: {
            /** @description Whether /settle would execute the payment */
            isValid: boolean;
            /** @description Absent if the payload contains no readable payer */
            payer?: string;
            invalidReason?: components["schemas"]["Reason"];
            /** @description The reason as a sentence */
            invalidMessage?: string;
            operationalCode?: components["schemas"]["OperationalCode"];
            /** @description With a reason: whether the same request may succeed later */
            retryable?: boolean;
            /** @description Scheme `batch-settlement`, of a valid payment: the state of the channel on chain */
            extra?: Record<string, unknown>;
            /**
             * @description Only of a sandbox: no payment is real. Every answer of it has this field
             * @constant
             */
            sandbox?: true;
        };
        VoidRequest: {
            /**
             * @description Any name of the network
             * @example eip155:84532
             */
            network: string;
            /** @description The escrow's hash of the payment, in any letter case */
            paymentInfoHash: string;
        };
        WebhookDelivery: {
            /** @description The event's id: the header `webhook-id` of every attempt */
            id: string;
            /** @example settlement.confirmed */
            type: string;
            /**
             * @description `stored`: written while there was no active webhook, never sent; it can be redelivered
             * @enum {string}
             */
            status: "waiting" | "delivered" | "failed" | "stored";
            /** @description Since the event, or since the last redelivery */
            attempts: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            nextAttemptAt?: string;
            /** Format: date-time */
            lastAttemptAt?: string;
            /** @description Status of the receiver's last response, if there was one */
            lastStatusCode?: number;
            /** @description Why there was no response */
            lastError?: string;
            /** @description Payload of the message: the settlement, stream or intent at the time of the event */
            data: unknown;
        };
        WebhookDeliveryPage: {
            /** @description Newest first */
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description For the next page; absent where there is none */
            nextCursor?: string;
        };
        WebhookRotated: {
            webhookUrl: string;
            /** @description Signing secret: `whsec_` and base64. Shown only once */
            secret: string;
            /**
             * Format: date-time
             * @description Until then messages are also signed with the previous secret
             */
            previousSecretUntil: string;
        };
        WebhookSet: {
            /** @description Empty when it was removed */
            webhookUrl: string;
            /** @description Signing secret: `whsec_` and base64. Shown only once */
            secret?: string;
        };
        WebhookTested: {
            /** @description Whether the receiver answered 2xx */
            success: boolean;
            /** @description The receiver's status; 0 without a response */
            statusCode: number;
            message: string;
        };
    };
    responses: {
        /** @description `INVALID_REQUEST`: The request is malformed; the message names the field. `INVALID_IDEMPOTENCY_KEY`: The header `Idempotency-Key` is not 1 to 64 letters, digits and hyphens. `PAYMENT_REFUSED`: The payment was judged and refused; see `errorReason`. */
        BadRequest: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `FORBIDDEN`: The restrictions of the API key exclude this client, or the instance has no operator token. */
        Forbidden: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INTENT_EXPIRED`: The intent expired. */
        IntentExpired: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INTENT_EXPIRED`: The intent expired. `ROUTE_EXPIRED`: The route is too old; refresh the intent. */
        IntentExpiredOrRouteExpired: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INTENT_NOT_PENDING`: The state of the intent does not allow this; see the message. */
        IntentNotPending: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INTERNAL_ERROR`: Internal error; there is no result. */
        InternalError: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INTERNAL_ERROR`: Internal error; there is no result. `SETTLEMENT_FAILED`: The settlement could not be executed; retry. */
        InternalErrorOrSettlementFailed: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INTERNAL_ERROR`: Internal error; there is no result. `VERIFICATION_FAILED`: The payment could not be verified; retry. */
        InternalErrorOrVerificationFailed: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INVALID_REQUEST`: The request is malformed; the message names the field. */
        InvalidRequest: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INVALID_REQUEST`: The request is malformed; the message names the field. `INVALID_IDEMPOTENCY_KEY`: The header `Idempotency-Key` is not 1 to 64 letters, digits and hyphens. */
        InvalidRequestOrInvalidIdempotencyKey: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INVALID_REQUEST`: The request is malformed; the message names the field. `PAYMENT_REFUSED`: The payment was judged and refused; see `errorReason`. */
        InvalidRequestOrPaymentRefused: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `NOT_FOUND`: The resource does not exist. */
        NotFound: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `PAYLOAD_MISMATCH`: The `Idempotency-Key` was already used with a different body. */
        PayloadMismatch: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `REQUEST_TOO_LARGE`: The body is larger than 65536 bytes (64 kB), unless the instance sets another limit. */
        PaymentsRequestTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `RATE_LIMITED`: Too many requests; retry after `Retry-After`. */
        RateLimited: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `RATE_LIMITED`: Too many requests; retry after `Retry-After`. `QUOTA_EXCEEDED`: The monthly quota is used up. */
        RateLimitedOrQuotaExceeded: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `REQUEST_TIMEOUT`: The request did not arrive in time; a body has 5 s. */
        RequestTimeout: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `REQUEST_TOO_LARGE`: The body is larger than 8192 bytes (8 kB). */
        RequestTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The scenario. */
        Scenario: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Scenario"];
            };
        };
        /** @description `INTERNAL_ERROR`: Internal error; there is no result. */
        ServiceInternalError: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `SERVICE_UNAVAILABLE`: The service or a chain is unavailable; retry after `Retry-After`. */
        ServiceUnavailable: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `STREAM_EXPIRED`: The stream expired. */
        StreamExpired: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `STREAM_NOT_ACTIVE`: The state of the stream does not allow this; see the message. */
        StreamNotActive: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `INVALID_REQUEST`: The request is malformed; the message names the field. `INVALID_AMOUNT`: The amount is below what the stream has already used. `AMOUNT_EXCEEDED`: The amount is above the maximum of the stream. `INVALID_VOUCHER`: The payer's voucher is missing, or does not fit the update. */
        StreamsBadRequest: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `REQUEST_TOO_LARGE`: The body is larger than 32768 bytes (32 kB). */
        StreamsRequestTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `UNAUTHORIZED`: An API key, or the operator's token, is missing or wrong. */
        Unauthorized: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `UNSUPPORTED_MEDIA_TYPE`: The body is not uncompressed JSON in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        Asset: string;
        /**
         * @description Who does it, for the audit trail: operators share one token
         * @example Ada
         */
        By: string;
        /** @description `nextCursor` of the previous page */
        Cursor: string;
        /** @description `nextCursor` of the previous page */
        DiscoveryCursor: string;
        /** @description Page size, from 1 on; at most 100 are returned; default 20 */
        DiscoveryLimit: number;
        /**
         * @description Any accepted name of a network
         * @example eip155:84532
         */
        DiscoveryNetwork: string;
        /**
         * @description Keys of extensions that it declares, comma separated
         * @example bazaar
         */
        Extensions: string;
        /**
         * @description Any name of the network
         * @example eip155:84532
         */
        HoldsNetwork: string;
        Id: string;
        /**
         * @description Unique key of this request: 1 to 64 letters, digits and hyphens
         * @example order-4711-attempt-1
         */
        IdempotencyKey: string;
        /** @description Page size, from 1 on; at most 200 are returned; default 50 */
        Limit: number;
        /** @description Highest price, in smallest units of the asset */
        MaxAmount: string;
        /** @description Lowest price, in smallest units of the asset */
        MinAmount: string;
        /**
         * @description Network of the wallet, for an address that is one of several families; default: any
         * @example eip155:84532
         */
        Network: string;
        PayTo: string;
        /** @description The escrow's hash of the payment, in any letter case */
        PaymentInfoHash: string;
        /** @description For lists: `nextCursor` of the previous page */
        PaymentsCursor: string;
        /** @description For lists: page size, from 1 on; at most 200 are returned; default 50 */
        PaymentsLimit: number;
        /** @example exact */
        Scheme: string;
        /** @description For lists: created at or after this time */
        Since: string;
        Type: "http" | "mcp";
        /** @description The same for every delivery of the event */
        WebhookId: string;
        /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
        WebhookSignature: string;
        /** @description Unix time in seconds */
        WebhookTimestamp: string;
        /** @description Of a stream that was opened without an API key: `streamToken` of the open answer */
        XStreamToken: string;
    };
    requestBodies: {
        AtDeadline: {
            content: {
                "application/json": components["schemas"]["AtDeadline"];
            };
        };
        /** @description Not needed with the API key of the owning account */
        OwnerSignature: {
            content: {
                "application/json": components["schemas"]["OwnerSignature"];
            };
        };
        PaymentRequest: {
            content: {
                "application/json": components["schemas"]["PaymentRequest"];
            };
        };
        StreamControl: {
            content: {
                "application/json": components["schemas"]["StreamControl"];
            };
        };
    };
    headers: {
        /** @description Request id, as written to the logs */
        "X-Request-ID": string;
        /** @description Seconds to wait before a retry */
        "Retry-After": number;
        /** @description Expected authentication scheme */
        "WWW-Authenticate": string;
        /** @description Requests allowed per window */
        "X-RateLimit-Limit": number;
        /** @description Requests remaining in the window */
        "X-RateLimit-Remaining": number;
        /** @description End of the window, in Unix seconds */
        "X-RateLimit-Reset": number;
        /** @description Tier of the API key; absent without a key */
        "X-RateLimit-Tier": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    verifyPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["PaymentRequest"];
        responses: {
            /** @description The verdict. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifyResult"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PaymentsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `QUOTA_EXCEEDED`: The monthly quota is used up. */
            429: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["InternalErrorOrVerificationFailed"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    explainPayment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainRequest"];
            };
        };
        responses: {
            /** @description The explanation. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PaymentsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    settlePayment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Unique key of this request: 1 to 64 letters, digits and hyphens
                 * @example order-4711-attempt-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["PaymentRequest"];
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description `true` if this answers an earlier request with the same `Idempotency-Key` again */
                    "X-Idempotency-Replayed"?: "true";
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettleResult"];
                };
            };
            400: components["responses"]["InvalidRequestOrInvalidIdempotencyKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description `REQUEST_IN_PROGRESS`: The first request with this `Idempotency-Key` is still in progress; retry after `Retry-After`. `PAYLOAD_MISMATCH`: The `Idempotency-Key` was already used with a different body. `PREVIOUS_REQUEST_FAILED`: The earlier request with this `Idempotency-Key` failed permanently. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `REQUEST_TOO_LARGE`: The body is larger than 131072 bytes (128 kB), unless the instance sets another limit. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimitedOrQuotaExceeded"];
            500: components["responses"]["InternalErrorOrSettlementFailed"];
            /** @description `IDEMPOTENCY_UNAVAILABLE`: The idempotency store is unavailable; nothing was sent, retry. `SERVICE_UNAVAILABLE`: The service or a chain is unavailable; retry after `Retry-After`. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    completeRequirements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequirementsToComplete"] | components["schemas"]["Price"];
            };
        };
        responses: {
            /** @description The requirements, complete. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompletedRequirements"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description The requirements for the price; not an error. */
            402: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentRequired"];
                };
            };
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PaymentsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getSettlement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 9401b76e-f466-496f-8524-886a61ebf067 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settlement. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettlementDetails"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    findSettlement: {
        parameters: {
            query?: {
                /**
                 * @description With `transaction`: required, as in the settle response. With `status`: filter by network
                 * @example eip155:84532
                 */
                network?: string;
                /**
                 * @description Transaction hash
                 * @example 0x90a5bbaa765b0ea6e060d133e2f24d47cb82c2414f005053855433fb1b9363a3
                 */
                transaction?: string;
                /** @description With `transaction`: payer of the payment */
                payer?: string;
                /** @description For operators, instead of `transaction`: all settlements with this status */
                status?: "pending" | "confirmed" | "failed";
                /** @description For lists: created at or after this time */
                since?: components["parameters"]["Since"];
                /** @description For lists: page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["PaymentsLimit"];
                /** @description For lists: `nextCursor` of the previous page */
                cursor?: components["parameters"]["PaymentsCursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settlement, or a page of settlements. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettlementsOfTransaction"] | components["schemas"]["SettlementPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
            500: components["responses"]["ServiceInternalError"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All dependencies are available. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            500: components["responses"]["ServiceInternalError"];
            /** @description A dependency is unavailable; see `checks`. Or the instance ends soon. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus text exposition format. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description `UNAUTHORIZED`: An API key, or the operator's token, is missing or wrong. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["ServiceInternalError"];
        };
    };
    getInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Service information. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceInfo"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getTiers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All plans, by id. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description By id. All four, unless `source` is `configured`: then the ids of the operator */
                        tiers: {
                            free?: components["schemas"]["Tier"];
                            builder?: components["schemas"]["Tier"];
                            scale?: components["schemas"]["Tier"];
                            enterprise?: components["schemas"]["Tier"];
                        } & {
                            [key: string]: components["schemas"]["Tier"];
                        };
                        /**
                         * @description `specification`: the plans of a hosted service, the default with `API_KEY_REQUIRED=true` and of a sandbox. `self-hosted`: the default where keys are optional. `configured`: the operator set `TIERS`
                         * @enum {string}
                         */
                        source: "specification" | "self-hosted" | "configured";
                        /** @description Tier of new API keys */
                        registrationTier: string;
                    };
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getSupported: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What can currently be settled. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Supported"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    findRouter: {
        parameters: {
            query: {
                /**
                 * @description Any name that `/supported` lists for `upto`
                 * @example eip155:84532
                 */
                network: string;
                /**
                 * @description Recipient
                 * @example 0x209693Bc6afc0C5328bA36FaF03C514EF312287C
                 */
                payTo: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The router. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listReasons: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reasons and error codes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReasonCatalogue"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    registerKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: email
                     * @description At most 254 characters; case-insensitive
                     */
                    email: string;
                    /** @description 1 to 100 visible characters */
                    projectName: string;
                };
            };
        };
        responses: {
            /** @description The existing key of the project. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            /** @description The new key of the project. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Registration"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    lookUpKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: email
                     * @description At most 254 characters; case-insensitive
                     */
                    email: string;
                };
            };
        };
        responses: {
            /** @description The keys of the address. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        email: string;
                        keys: {
                            apiKey: string;
                            project: string;
                            /**
                             * @description A name of `GET /tiers`
                             * @example free
                             */
                            tier: string;
                            /** @enum {string} */
                            status: "active" | "revoked";
                            /** Format: date-time */
                            createdAt: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    countKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of keys. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        totalKeys: number;
                    };
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project of the key. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description A name of `GET /tiers`
                         * @example free
                         */
                        tier: string;
                        config: {
                            name: string;
                            monthlyQuota: number;
                            rpmLimit: number;
                            feeRate: number;
                        };
                        quota: components["schemas"]["Quota"];
                        email: string;
                        project: string;
                        /** @enum {string} */
                        status: "active" | "revoked";
                        /** Format: date-time */
                        createdAt: string;
                        /** @description Empty when unset */
                        webhookUrl: string;
                        allowedIPs: string[] | null;
                        allowedRef: string[] | null;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys of the address. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        email: string;
                        keys: {
                            apiKey: string;
                            project: string;
                            /**
                             * @description A name of `GET /tiers`
                             * @example free
                             */
                            tier: string;
                            /** @enum {string} */
                            status: "active" | "revoked";
                            /** Format: date-time */
                            createdAt: string;
                            current: boolean;
                        }[];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Adds `settlements` of the last 1 to 168 hours */
                hours?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last seven days. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {number} */
                        days: 7;
                        usage: {
                            /** Format: date */
                            date: string;
                            count: number;
                        }[];
                        settlements?: components["schemas"]["AccountActivity"];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listMySettlements: {
        parameters: {
            query?: {
                /** @description For lists: created at or after this time */
                since?: components["parameters"]["Since"];
                /** @description For lists: page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["PaymentsLimit"];
                /** @description For lists: `nextCursor` of the previous page */
                cursor?: components["parameters"]["PaymentsCursor"];
                /** @description Filter by status */
                status?: "pending" | "confirmed" | "failed";
                /** @description Filter by network */
                network?: string;
                /** @description Only settlements with this id or transaction, and, of the newest 1,000 that match the other filters, those of this payer */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of settlements. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountSettlementPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateKey: {
        parameters: {
            query?: {
                /** @description How long the old key stays valid, at most 604800 (7 days) */
                graceSeconds?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new key of the project. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        apiKey: string;
                        project: string;
                        message: string;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    restrictKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Addresses and CIDR blocks, at most 100 */
                    allowedIPs?: string[] | null;
                    /** @description Hosts of `Referer` or `Origin`, at most 100 */
                    allowedRef?: string[] | null;
                    /** @description Accept an `allowedIPs` that excludes the address of this request */
                    force?: boolean;
                };
            };
        };
        responses: {
            /** @description The new restrictions. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        allowedIPs: string[];
                        allowedRef: string[];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys of the project. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        keys: {
                            /** Format: uuid */
                            id: string;
                            name: string;
                            scopes: ("verify" | "settle" | "read" | "manage")[];
                            /**
                             * @description retiring: replaced, and valid until `expiresAt`
                             * @enum {string}
                             */
                            status: "active" | "retiring" | "expired";
                            /** @description The key of /register and /lookup */
                            isPrimary: boolean;
                            /** Format: date-time */
                            createdAt: string;
                            expiresAt: string | null;
                            /** @description Up to a minute late; null: never used */
                            lastUsedAt: string | null;
                            current: boolean;
                        }[];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 100 visible characters */
                    name: string;
                    /** @description Default: the scopes of the key of this request */
                    scopes?: ("verify" | "settle" | "read" | "manage")[];
                    /**
                     * Format: date-time
                     * @description Default: never
                     */
                    expiresAt?: string;
                };
            };
        };
        responses: {
            /** @description The new key. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        name: string;
                        scopes: ("verify" | "settle" | "read" | "manage")[];
                        /**
                         * @description retiring: replaced, and valid until `expiresAt`
                         * @enum {string}
                         */
                        status: "active" | "retiring" | "expired";
                        /** @description The key of /register and /lookup */
                        isPrimary: boolean;
                        /** Format: date-time */
                        createdAt: string;
                        expiresAt: string | null;
                        /** @description Up to a minute late; null: never used */
                        lastUsedAt: string | null;
                        /** @description Shown only in this response */
                        apiKey: string;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is revoked. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** @enum {boolean} */
                        revoked: true;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readAudit: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entries: {
                            /** Format: uuid */
                            id: string;
                            /** Format: date-time */
                            createdAt: string;
                            /** @enum {string} */
                            action: "account.registered" | "account.revoked" | "key.created" | "key.revoked" | "key.rotated" | "recipient.deleted" | "recipient.stated" | "restrictions.changed" | "tier.changed" | "webhook.changed" | "webhook.removed" | "webhook.secret_rotated";
                            /** @description A key by its name and id, `operator` or `registration` */
                            actor: string;
                            /** @description Client address; null for operators */
                            address: string | null;
                            details: Record<string, unknown>;
                        }[];
                        /** Format: uuid */
                        nextCursor?: string;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    writeRecipientMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example near:mainnet */
                    network: string;
                    /** @example shop.near */
                    payTo: string;
                    claims: components["schemas"]["ClaimDemands"];
                };
            };
        };
        responses: {
            /** @description The message to sign. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description CAIP-122 text for the wallet of `payTo` */
                        message: string;
                        nonce: string;
                        /** Format: date-time */
                        expirationTime: string;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listRecipients: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statements. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        recipients: components["schemas"]["Recipient"][];
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    stateRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example near:mainnet */
                    network: string;
                    /** @example shop.near */
                    payTo: string;
                    claims: components["schemas"]["ClaimDemands"];
                    /** @description Of `POST /dashboard/recipients/message` */
                    nonce: string;
                    /** @description Of the message, by the recipient's wallet, encoded as in a signed claim of the network */
                    signature: string;
                    /** @description Where a signed claim of the network needs one */
                    publicKey?: string;
                };
            };
        };
        responses: {
            /** @description The statement. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recipient"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            /** @description `UNAUTHORIZED`: An API key, or the operator's token, is missing or wrong. `SIGN_IN_FAILED`: The wallet sign-in is refused; see `reason`. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteRecipient: {
        parameters: {
            query: {
                /** @example near:mainnet */
                network: string;
                /** @example shop.near */
                payTo: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The statement is deleted. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        network: string;
                        payTo: string;
                        /** @enum {boolean} */
                        deleted: true;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCreditScore: {
        parameters: {
            query: {
                /**
                 * @description Address of a payer, in any form that its network accepts
                 * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                 */
                wallet: string;
                /**
                 * @description Network of the wallet, for an address that is one of several families; default: any
                 * @example eip155:84532
                 */
                network?: components["parameters"]["Network"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The score, its parts, and how it came about. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditScore"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    refreshCreditScore: {
        parameters: {
            query?: {
                /**
                 * @description Address of a payer, in any form that its network accepts
                 * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                 */
                wallet?: string;
                /**
                 * @description Network of the wallet, for an address that is one of several families; default: any
                 * @example eip155:84532
                 */
                network?: components["parameters"]["Network"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Address of a payer, in any form that its network accepts
                     * @example 0x18f77dd01186556F1F745E7847A4686421dEE072
                     */
                    wallet?: string;
                    /**
                     * @description Network of the wallet, for an address that is one of several families; default: any
                     * @example eip155:84532
                     */
                    network?: string;
                };
            };
        };
        responses: {
            /** @description The score after the recount. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefreshedCreditScore"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listTopWallets: {
        parameters: {
            query?: {
                /** @description Wallets, from 1 on; at most 100 are returned; default 10 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The wallets, the best first. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditRanking"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getRequestStatistics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestStatistics"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    getSettlementStatistics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettlementStatistics"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    reconcile: {
        parameters: {
            query?: {
                /** @description Settlements that were opened at or after this time; default: a day before `to` */
                from?: string;
                /** @description Settlements that were opened before this time; default: now */
                to?: string;
                /**
                 * @description Only of this network: one that is configured, or has settlements
                 * @example eip155:84532
                 */
                network?: string;
                /** @description Settlements on a page, from 1 on; at most 200 are returned; default 100 */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Default `json`
                 * @example json
                 */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was compared, and every difference. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description Of CSV: for the next page; absent on the last one */
                    "X-Next-Cursor"?: string;
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReconciliationPage"];
                    "text/csv": string;
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The overview. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorOverview"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readCallers: {
        parameters: {
            query?: {
                /** @description Callers in each list, from 1 on; at most 100 are returned; default 20 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Three lists of callers. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallerReport"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    searchAccounts: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description An account id, or the beginning of an e-mail address
                 * @example ada@
                 */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of accounts. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description By e-mail address, then project */
                        accounts: components["schemas"]["OperatorAccount"][];
                        /** @description For the next page; absent where there is none */
                        nextCursor?: string;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setTier: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description A name of `GET /tiers`
                     * @example scale
                     */
                    tier: string;
                };
            };
        };
        responses: {
            /** @description The account with its tier. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorAccount"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revokeAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account, which is revoked. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorAccount"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listPauses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pauses. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Oldest first */
                        pauses: components["schemas"]["Pause"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setPause: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PauseRequest"];
            };
        };
        responses: {
            /** @description The pause, as it is stored. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pause: components["schemas"]["Pause"];
                        /** @description False: it was set like this before */
                        changed: boolean;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    clearPause: {
        parameters: {
            query: {
                /**
                 * @description What is paused; the other parameters name it as in the pause
                 * @example network
                 */
                kind: "network" | "scheme" | "recipient" | "account";
                /** @example eip155:8453 */
                network?: string;
                scheme?: string;
                payTo?: string;
                accountId?: string;
                /**
                 * @description Who does it, for the audit trail: operators share one token
                 * @example Ada
                 */
                by?: components["parameters"]["By"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is still paused. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description False: there was no such pause */
                        cleared: boolean;
                        /** @description What is still paused */
                        pauses: components["schemas"]["Pause"][];
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    redeliverForAccount: {
        parameters: {
            query?: {
                /**
                 * @description Who does it, for the audit trail: operators share one token
                 * @example Ada
                 */
                by?: components["parameters"]["By"];
            };
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, now due. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readOperatorAudit: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of actions. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Newest first */
                        entries: {
                            /** Format: uuid */
                            id: string;
                            /** Format: date-time */
                            createdAt: string;
                            action: string;
                            /** @description What was changed, by its `kind` */
                            target: Record<string, unknown>;
                            /** @description Name that the operator gave */
                            by: string | null;
                            /** @description Client address; null for commands on the server and for changes to accounts */
                            address: string | null;
                            before: Record<string, unknown> | null;
                            after: Record<string, unknown> | null;
                        }[];
                        /** @description For the next page; absent where there is none */
                        nextCursor?: string;
                    };
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    openStream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamOpenRequest"];
            };
        };
        responses: {
            /** @description The same request opened it before. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamOpened"];
                };
            };
            /** @description The stream is open. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamOpened"];
                };
            };
            400: components["responses"]["InvalidRequestOrPaymentRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PaymentsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimitedOrQuotaExceeded"];
            500: components["responses"]["InternalErrorOrVerificationFailed"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updateStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of a stream that was opened without an API key: `streamToken` of the open answer */
                "X-Stream-Token"?: components["parameters"]["XStreamToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamUpdateRequest"];
            };
        };
        responses: {
            /** @description The update is durable. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamUpdated"];
                };
            };
            400: components["responses"]["StreamsBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            /** @description `STREAM_NOT_ACTIVE`: The state of the stream does not allow this; see the message. `INVALID_SEQUENCE`: The sequence is not above that of the last update. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["StreamExpired"];
            413: components["responses"]["StreamsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    closeStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of a stream that was opened without an API key: `streamToken` of the open answer */
                "X-Stream-Token"?: components["parameters"]["XStreamToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamCloseRequest"];
            };
        };
        responses: {
            /** @description The stream; its status says what became of the settlement. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamAnswer"];
                };
            };
            400: components["responses"]["StreamsBadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["StreamNotActive"];
            410: components["responses"]["StreamExpired"];
            413: components["responses"]["StreamsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    pauseStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of a stream that was opened without an API key: `streamToken` of the open answer */
                "X-Stream-Token"?: components["parameters"]["XStreamToken"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["StreamControl"];
        responses: {
            /** @description The stream is paused. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamAnswer"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["StreamNotActive"];
            410: components["responses"]["StreamExpired"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    resumeStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of a stream that was opened without an API key: `streamToken` of the open answer */
                "X-Stream-Token"?: components["parameters"]["XStreamToken"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["StreamControl"];
        responses: {
            /** @description The stream is active. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamAnswer"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["StreamNotActive"];
            410: components["responses"]["StreamExpired"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of a stream that was opened without an API key: `streamToken` of the open answer */
                "X-Stream-Token"?: components["parameters"]["XStreamToken"];
            };
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream as it is now. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamUpdated"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listStreams: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
                /** @description Filter by status; default: all */
                status?: "active" | "paused" | "closing" | "closed" | "failed" | "expired";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of streams. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listChannels: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of channels. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description CAIP-2 identifier
                 * @example eip155:8453
                 */
                network: string;
                /** @example 0x544924a10a10b54a1b4389746d7205f08ddd246d58640217673fb24b1430fabe */
                channelId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel as it is known now. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Empty to remove it
                     * @example https://shop.example/webhooks/payments
                     */
                    webhookUrl: string;
                };
            };
        };
        responses: {
            /** @description The webhook is set or removed. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSet"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response of the receiver. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTested"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookRotated"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
                /** @description Filter by status; default: all but `stored` */
                status?: "waiting" | "delivered" | "failed" | "stored";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, now due. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /**
                 * @description `cursor` of the previous response, or `latest`
                 * @example latest
                 */
                cursor?: string;
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description Seconds to wait for an event, 0 to 30; default 0 */
                wait?: number;
                /** @description Only events of this settlement; default: of all */
                settlementId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listIntents: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
                /** @description Filter by status; default: all */
                status?: "pending" | "routed" | "executing" | "completed" | "failed" | "expired" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of intents. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntentPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createIntent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Unique key of this request: 1 to 64 letters, digits and hyphens
                 * @example order-4711-attempt-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentRequest"];
            };
        };
        responses: {
            /** @description The intent with its routes. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    /** @description `true` if this answers an earlier request with the same `Idempotency-Key` again */
                    "X-Idempotency-Replayed"?: "true";
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedIntent"];
                };
            };
            400: components["responses"]["InvalidRequestOrInvalidIdempotencyKey"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            /** @description `REQUEST_IN_PROGRESS`: The first request with this `Idempotency-Key` is still in progress; retry after `Retry-After`. `PAYLOAD_MISMATCH`: The `Idempotency-Key` was already used with a different body. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            /** @description `SERVICE_UNAVAILABLE`: The service or a chain is unavailable; retry after `Retry-After`. `IDEMPOTENCY_UNAVAILABLE`: The idempotency store is unavailable; nothing was sent, retry. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getIntent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The intent. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntentWithRoutes"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    selectRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RouteSelection"];
            };
        };
        responses: {
            /** @description The route is selected. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoutedIntent"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["IntentNotPending"];
            410: components["responses"]["IntentExpiredOrRouteExpired"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    executeIntent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentExecution"];
            };
        };
        responses: {
            /** @description What became of the payment. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutedIntent"];
                };
            };
            400: components["responses"]["InvalidRequestOrPaymentRefused"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            /** @description `INTENT_NOT_PENDING`: The state of the intent does not allow this; see the message. `NO_ROUTE_SELECTED`: No route of the intent was selected. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["IntentExpiredOrRouteExpired"];
            413: components["responses"]["PaymentsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimitedOrQuotaExceeded"];
            500: components["responses"]["InternalErrorOrSettlementFailed"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelIntent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of an intent that was created without an API key: `intentToken` of the answer */
                "X-Intent-Token"?: string;
            };
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The intent is cancelled. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedIntent"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["IntentNotPending"];
            410: components["responses"]["IntentExpired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    refreshIntent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The intent with its routes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntentWithRoutes"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["IntentNotPending"];
            410: components["responses"]["IntentExpired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    capture: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Unique key of this request: 1 to 64 letters, digits and hyphens
                 * @example order-4711-attempt-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CaptureRequest"];
            };
        };
        responses: {
            /** @description What became of the capture. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedHold"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PayloadMismatch"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimitedOrQuotaExceeded"];
            500: components["responses"]["InternalErrorOrSettlementFailed"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    voidHold: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Unique key of this request: 1 to 64 letters, digits and hyphens
                 * @example order-4711-attempt-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VoidRequest"];
            };
        };
        responses: {
            /** @description What became of the void. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedHold"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PayloadMismatch"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimitedOrQuotaExceeded"];
            500: components["responses"]["InternalErrorOrSettlementFailed"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    refundHold: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Unique key of this request: 1 to 64 letters, digits and hyphens
                 * @example order-4711-attempt-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefundRequest"];
            };
        };
        responses: {
            /** @description What became of the refund. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedHold"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PayloadMismatch"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimitedOrQuotaExceeded"];
            500: components["responses"]["InternalErrorOrSettlementFailed"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setAtDeadline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Any name of the network
                 * @example eip155:84532
                 */
                network: components["parameters"]["HoldsNetwork"];
                /** @description The escrow's hash of the payment, in any letter case */
                paymentInfoHash: components["parameters"]["PaymentInfoHash"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["AtDeadline"];
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeldPaymentDetails"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            /** @description `REQUEST_IN_PROGRESS`: The first request with this `Idempotency-Key` is still in progress; retry after `Retry-After`. */
            409: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            /** @description `SERVICE_UNAVAILABLE`: The service or a chain is unavailable; retry after `Retry-After`. `SERVICE_UNAVAILABLE`: The service or a chain is unavailable; retry after `Retry-After`. */
            503: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHoldDefaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The default. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AtDeadline"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    setHoldDefaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["AtDeadline"];
        responses: {
            /** @description The default. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AtDeadline"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getHeldPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Any name of the network
                 * @example eip155:84532
                 */
                network: components["parameters"]["HoldsNetwork"];
                /** @description The escrow's hash of the payment, in any letter case */
                paymentInfoHash: components["parameters"]["PaymentInfoHash"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeldPaymentDetails"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listHeldPayments: {
        parameters: {
            query?: {
                /** @description Page size, from 1 on; at most 200 are returned; default 50 */
                limit?: components["parameters"]["Limit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["Cursor"];
                /** @description Filter by status */
                status?: "pending" | "held" | "captured" | "voided" | "expired" | "reclaimed" | "failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of holds. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeldPaymentPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listResources: {
        parameters: {
            query?: {
                type?: components["parameters"]["Type"];
                /**
                 * @description Any accepted name of a network
                 * @example eip155:84532
                 */
                network?: components["parameters"]["DiscoveryNetwork"];
                /** @example exact */
                scheme?: components["parameters"]["Scheme"];
                asset?: components["parameters"]["Asset"];
                payTo?: components["parameters"]["PayTo"];
                /**
                 * @description Keys of extensions that it declares, comma separated
                 * @example bazaar
                 */
                extensions?: components["parameters"]["Extensions"];
                /** @description Lowest price, in smallest units of the asset */
                minAmount?: components["parameters"]["MinAmount"];
                /** @description Highest price, in smallest units of the asset */
                maxAmount?: components["parameters"]["MaxAmount"];
                /** @description Page size, from 1 on; at most 100 are returned; default 20 */
                limit?: components["parameters"]["DiscoveryLimit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["DiscoveryCursor"];
                /** @description Words that all occur */
                q?: string;
                /** @description Resources to skip; not with `cursor` */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of resources. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourcePage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscoveredResource"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    unlistResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["OwnerSignature"];
        responses: {
            /** @description The state of the listing. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListingChanged"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    relistResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["OwnerSignature"];
        responses: {
            /** @description The state of the listing. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListingChanged"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    searchResources: {
        parameters: {
            query: {
                type?: components["parameters"]["Type"];
                /**
                 * @description Any accepted name of a network
                 * @example eip155:84532
                 */
                network?: components["parameters"]["DiscoveryNetwork"];
                /** @example exact */
                scheme?: components["parameters"]["Scheme"];
                asset?: components["parameters"]["Asset"];
                payTo?: components["parameters"]["PayTo"];
                /**
                 * @description Keys of extensions that it declares, comma separated
                 * @example bazaar
                 */
                extensions?: components["parameters"]["Extensions"];
                /** @description Lowest price, in smallest units of the asset */
                minAmount?: components["parameters"]["MinAmount"];
                /** @description Highest price, in smallest units of the asset */
                maxAmount?: components["parameters"]["MaxAmount"];
                /** @description Page size, from 1 on; at most 100 are returned; default 20 */
                limit?: components["parameters"]["DiscoveryLimit"];
                /** @description `nextCursor` of the previous page */
                cursor?: components["parameters"]["DiscoveryCursor"];
                /**
                 * @description Words
                 * @example weather forecast
                 */
                query: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of matches. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourceSearchPage"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    validateDeclaration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description Every rule, in the order of checking. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeclarationReport"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            408: components["responses"]["RequestTimeout"];
            /** @description `REQUEST_TOO_LARGE`: The body is larger than 131072 bytes (128 kB), unless the instance sets another limit. */
            413: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    issueSignInNonce: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Host, with a port unless it is the default; default: that of `uri` */
                    domain?: string;
                    /**
                     * @description Absolute URL of the resource
                     * @example https://api.example.com/premium
                     */
                    uri?: string;
                    /**
                     * @description CAIP-2 identifier
                     * @example eip155:8453
                     */
                    chainId?: string;
                    chains?: string[];
                    statement?: string;
                    /** @description Default 300 */
                    expiresInSeconds?: number;
                    /** @description Default: `uri` */
                    resources?: string[];
                    requestId?: string;
                };
            };
        };
        responses: {
            /** @description The nonce and its declarations. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInNonce"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    verifySignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Value of the request header; or `proof` */
                    header?: string;
                    /** @description The decoded header, instead of `header` */
                    proof?: Record<string, unknown>;
                    /**
                     * @description Absolute URL of the resource
                     * @example https://api.example.com/premium
                     */
                    uri: string;
                    /** @description Host, with a port unless it is the default; default: that of `uri` */
                    domain?: string;
                    /**
                     * @description CAIP-2 identifier
                     * @example eip155:8453
                     */
                    chainId?: string;
                    /** @description Accepted chains; default: any */
                    chains?: string[];
                    /** @description That the message must list; default: none */
                    resources?: string[];
                    /** @description The nonce that you gave this client; default: any */
                    nonce?: string;
                    /** @description Age of `issuedAt`; default 300 */
                    maxAgeSeconds?: number;
                    /** @description Only nonces of `POST /v1/siwx/nonce`; default false */
                    requireIssuedNonce?: boolean;
                };
            };
        };
        responses: {
            /** @description The wallet signed in. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignIn"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            /** @description `SIGN_IN_FAILED`: The wallet sign-in is refused; see `reason`. */
            401: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["StreamsRequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listSandboxAddresses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payers. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxAddressList"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
        };
    };
    createSandboxPayment: {
        parameters: {
            query?: {
                /**
                 * @description CAIP-2 identifier; default `eip155:84532`
                 * @example eip155:84532
                 */
                network?: string;
            };
            header?: never;
            path: {
                /** @example CAFE11 */
                payer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A body to send. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxPayment"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createScenario: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScenarioRequest"];
            };
        };
        responses: {
            201: components["responses"]["Scenario"];
            400: components["responses"]["InvalidRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getScenario: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 5d3a4c1e-8f0b-4a52-9c67-2b1f0e9d8a73 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Scenario"];
            400: components["responses"]["InvalidRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    advanceSandboxClock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClockAdvance"];
            };
        };
        responses: {
            200: components["responses"]["Scenario"];
            400: components["responses"]["InvalidRequest"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createSandboxInbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Deliveries that the inbox answers with status 500 before it answers 200 */
                    failures?: number;
                };
            };
        };
        responses: {
            /** @description The new inbox. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInbox"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    readSandboxInbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The inbox with its messages. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxInboxMessages"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOpenApiYaml: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": {
                        openapi: string;
                    };
                };
            };
            429: components["responses"]["RateLimited"];
        };
    };
    getOpenApiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-RateLimit-Tier": components["headers"]["X-RateLimit-Tier"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    };
                };
            };
            429: components["responses"]["RateLimited"];
        };
    };
    settlementConfirmed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettlementEvent"] & {
                    /** @constant */
                    type?: "settlement.confirmed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    settlementFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettlementEvent"] & {
                    /** @constant */
                    type?: "settlement.failed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    settlementPending: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettlementEvent"] & {
                    /** @constant */
                    type?: "settlement.pending";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    settlementReorged: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettlementEvent"] & {
                    /** @constant */
                    type?: "settlement.reorged";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.created";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentRouted: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.routed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentExecuting: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.executing";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.completed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.failed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentExpired: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.expired";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    intentCancelled: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IntentEvent"] & {
                    /** @constant */
                    type?: "intent.cancelled";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    channelWithdrawalRequested: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelEvent"] & {
                    /** @constant */
                    type?: "channel.withdrawal_requested";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    channelNearCap: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelEvent"] & {
                    /** @constant */
                    type?: "channel.near_cap";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    channelUnclaimable: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelEvent"] & {
                    /** @constant */
                    type?: "channel.unclaimable";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdPending: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.pending";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdHeld: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.held";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdCaptured: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.captured";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdVoided: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.voided";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdExpiring: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.expiring";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdDeadlineActionFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.deadline_action_failed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdExpired: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.expired";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdReclaimed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.reclaimed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    holdFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldEvent"] & {
                    /** @constant */
                    type?: "hold.failed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamOpened: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.opened";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamPaused: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.paused";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamResumed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.resumed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamClosed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.closed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.failed";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamExpired: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.expired";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamInsufficientFunds: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.insufficient_funds";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamFundsRestored: {
        parameters: {
            query?: never;
            header: {
                /** @description The same for every delivery of the event */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time in seconds */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description Standard Webhooks: `v1,` and the base64 HMAC-SHA256, one per valid secret */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StreamEvent"] & {
                    /** @constant */
                    type?: "stream.funds_restored";
                };
            };
        };
        responses: {
            /** @description Ends all deliveries until a URL is set again. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Received. Any other response is retried for about 17 hours. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
