'use strict';
'require view';
'require form';
'require fs';
'require ui';

return view.extend({
	load: function () {
		return L.resolveDefault(fs.exec('/usr/sbin/fourhop-gateway', ['status']), { stdout: '' });
	},

	render: function (status) {
		var m = new form.Map('fourhop-gateway', _('Mesh pacing'),
			_('Paces TCP into a multihop mesh. When the service starts, it determines the values left empty.'));
		var s = m.section(form.NamedSection, 'main', 'gateway');
		var o;

		s.option(form.Flag, 'enabled', _('Enabled'));
		o = s.option(form.DynamicList, 'device', _('Mesh devices'));
		o.datatype = 'maxlength(15)';
		o = s.option(form.Value, 'rate', _('Rate of the links'));
		o.placeholder = _('automatic');
		o = s.option(form.ListValue, 'hops', _('Source of hop counts'));
		o.value('', _('automatic'));
		o.value('ttl', _('time to live'));
		o.value('aodv', _('fourhop-aodvd'));
		o.optional = true;
		o = s.option(form.ListValue, 'mode', _('Pacing'));
		o.value('ap2', _('AP2: windows, for any radio'));
		o.value('gap', _('TCP-GAP: intervals, for 802.11b'));
		o = s.option(form.ListValue, 'share', _('Share'));
		o.value('even', _('the same for all flows'));
		o.value('own', _('per flow'));
		o = s.option(form.Value, 'metrics', _('Address of the metrics for Prometheus'));
		o.placeholder = '127.0.0.1:9466';

		return m.render().then(function (node) {
			return E([node, E('h3', _('Status')), E('pre', status.stdout || _('The service is not running.'))]);
		});
	}
});
