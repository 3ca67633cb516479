// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {PlainToken} from "./Token3009.sol";

/// @notice Holds tokens that only one address may move: what an arbitrary call from that address would steal.
contract RouterGatedOnFacilitator {
    address public immutable facilitator;

    constructor(address onlyCaller) {
        facilitator = onlyCaller;
    }

    function sweep(PlainToken token, address to, uint256 value) external {
        require(msg.sender == facilitator, "caller is not the facilitator");
        token.transfer(to, value);
    }
}
