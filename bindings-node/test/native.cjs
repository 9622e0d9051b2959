// The addon itself, for tests of its exact bytes.
module.exports = require(require('node:path').join(require('node:path').dirname(require.resolve('dunnage')), 'dunnage.linux-x64-gnu.node'))
